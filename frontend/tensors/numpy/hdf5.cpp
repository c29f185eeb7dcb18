// The module `_hdf5`: HDF5 files in memory as trees, through libtfl_hdf5.so, which is loaded when the first one is read or written.
// A tree is a tuple of two: the attributes by name, and a dict of trees by name (a group), an array, text or list of texts (a data set),
// or None with the reason in the attributes' place (what is not followed: links and the like).
#include <deque>
#include <optional>

#include "frontend/core/native_module.h"
#include "frontend/tensors/numpy/array.h"
#include "runtime/hdf5/table.h"
#include "runtime/support/shared_library.h"

namespace tfl::hdf5_files {

namespace {

constexpr int kMostDepth = 64;

struct Library {
  const hdf5::Table* table = nullptr;
  std::string error;
};

Result<const hdf5::Table*> library() {
  static const Library loaded = [] {
    Library made;
    if (auto entry = reinterpret_cast<hdf5::Entry>(entry_beside_program("libtfl_hdf5.so", hdf5::kEntry, made.error)))
      made.table = entry();
    return made;
  }();
  if (loaded.table) return loaded.table;
  return fail(ErrorKind::ImportError,
              "files in HDF5 need the HDF5 library: install Debian's libhdf5-dev before TFL is built, or libhdf5-103 (Debian 13: "
              "libhdf5-310) where it runs ({})",
              loaded.error);
}

/// Makes room for arrays, and values of what was read.
class Values {
 public:
  explicit Values(Interp& interp) : interp_(interp) {}

  void* room(DType dtype, const std::vector<int64_t>& dims) {
    auto made = Tensor::empty(interp_.context, dtype, dims);
    if (!made) {
      failure_ = made.failure();
      return nullptr;
    }
    arrays_.push_back(made.take());
    return arrays_.back().raw();
  }
  std::optional<Failure>& failure() { return failure_; }

  Value tree(hdf5::Node& node) {
    if (!node.group && node.content.kind == hdf5::Content::Kind::Refused)
      return interp_.tuple({interp_.str(std::move(node.content.reason)), Value::none()});
    Value attributes = interp_.dict();
    for (auto& [name, content] : node.attributes) dict_set_str(attributes.as<Dict>(), interp_.intern(name), value(content));
    if (!node.group) return interp_.tuple({attributes, value(node.content)});
    Value inside = interp_.dict();
    for (hdf5::Node& child : node.children) dict_set_str(inside.as<Dict>(), interp_.intern(child.name), tree(child));
    return interp_.tuple({attributes, inside});
  }

 private:
  Value value(hdf5::Content& c) {
    if (c.kind == hdf5::Content::Kind::Refused) return Value::none();
    if (c.kind == hdf5::Content::Kind::Array) return ndarray_value(interp_, std::move(arrays_[c.number]));
    if (c.scalar_text) return interp_.bytes(std::move(c.texts[0]));
    std::vector<Value> items;
    items.reserve(c.texts.size());
    for (std::string& text : c.texts) items.push_back(interp_.bytes(std::move(text)));
    return interp_.list(std::move(items));
  }

  Interp& interp_;
  std::vector<Tensor> arrays_;
  std::optional<Failure> failure_;
};

/// read(data): the tree of a file whose bytes these are; ValueError where they are no such file.
Result<Value> read(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Bytes))
    return fail(ErrorKind::TypeError, "a bytes-like object is required, not '{}'", interp.type_name(args[0]));
  const hdf5::Table* table = TFL_TRY(library());
  Values values(interp);
  hdf5::ReadRequest request{args[0].as<Bytes>()->data,
                            [&](DType dtype, const std::vector<int64_t>& dims) { return values.room(dtype, dims); },
                            interp.context.memory.limit()};
  hdf5::Node root;
  std::string error;
  table->read(request, root, error);
  if (values.failure()) return std::move(*values.failure());
  if (!error.empty()) return fail(ErrorKind::ValueError, "the HDF5 file is damaged: {}", error);
  return values.tree(root);
}

/// Values of a script as what is written; arrays are held until it is.
class Nodes {
 public:
  explicit Nodes(Interp& interp) : interp_(interp) {}

  Result<hdf5::Node> tree(const Value& v, int depth) {
    if (!v.is(Kind::Tuple) || v.as<Tuple>()->size != 2 || depth > kMostDepth) return wrong();
    hdf5::Node node;
    const Value* part = v.as<Tuple>()->items;
    if (!part[0].is(Kind::Dict)) return wrong();
    size_t at = 0;
    while (Dict::Entry* e = dict_next(part[0].as<Dict>(), at)) {
      if (!e->key.is_str()) return wrong();
      node.attributes.emplace_back(text_of(e->key), TFL_TRY(content(e->value)));
    }
    node.group = part[1].is(Kind::Dict);
    if (!node.group) {
      node.content = TFL_TRY(content(part[1]));
      return node;
    }
    at = 0;
    while (Dict::Entry* e = dict_next(part[1].as<Dict>(), at)) {
      if (!e->key.is_str()) return wrong();
      node.children.push_back(TFL_TRY(tree(e->value, depth + 1)));
      node.children.back().name = text_of(e->key);
    }
    return node;
  }
  size_t bytes() const { return bytes_; }

 private:
  static Failure wrong() {
    return fail(ErrorKind::TypeError, "a tree of an HDF5 file has two parts: attributes, and what is inside");
  }

  Result<hdf5::Content> content(const Value& v) {
    hdf5::Content c;
    if (v.is_str() || v.is(Kind::Bytes)) {
      c.kind = hdf5::Content::Kind::Texts;
      c.scalar_text = true;
      c.texts.push_back(v.is_str() ? text_of(v) : v.as<Bytes>()->data);
    } else if (v.is(Kind::List)) {
      c.kind = hdf5::Content::Kind::Texts;
      for (const Value& item : v.as<List>()->items) {
        if (!item.is_str() && !item.is(Kind::Bytes)) return wrong();
        c.texts.push_back(item.is_str() ? text_of(item) : item.as<Bytes>()->data);
      }
      c.dims.push_back(static_cast<int64_t>(c.texts.size()));
    } else {
      Tensor t = TFL_TRY(as_array(interp_, v));
      if (!t.contiguous()) t = TFL_TRY(copy_of(interp_, t));
      if (t.dtype() == DType::String) return fail(ErrorKind::TypeError, "arrays of texts cannot be written to HDF5 files");
      c.dtype = t.dtype();
      c.dims.assign(t.dims().begin(), t.dims().end());
      bytes_ += static_cast<size_t>(t.size()) * dtype_size(t.dtype());
      held_.push_back(std::move(t));
      c.elements = held_.back().raw();
    }
    for (const std::string& text : c.texts) bytes_ += text.size();
    return c;
  }

  Interp& interp_;
  std::deque<Tensor> held_;
  size_t bytes_ = 0;
};

/// write(tree): the bytes of a file with it.
Result<Value> write(Interp& interp, Value* args) {
  const hdf5::Table* table = TFL_TRY(library());
  Nodes nodes(interp);
  const hdf5::Node root = TFL_TRY(nodes.tree(args[0], 0));
  TFL_TRY(guard_memory(interp, nodes.bytes() * 2));
  std::string file, error;
  table->write(root, file, error);
  if (!error.empty()) return fail(ErrorKind::ValueError, "the HDF5 file could not be made: {}", error);
  return interp.bytes(std::move(file));
}

constexpr NativeDef kFunctions[] = {
    function("read", "data, /", read),
    function("write", "tree, /", write),
};

}  // namespace

}  // namespace tfl::hdf5_files

namespace tfl {

Result<void> init_hdf5(Interp& interp, Module& module) {
  define_all(interp, module, hdf5_files::kFunctions);
  return {};
}

}  // namespace tfl
