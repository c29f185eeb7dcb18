// A tree into the bytes of an HDF5 file, as h5py writes it: old formats that every reader knows, texts of any length in UTF-8.
#include <algorithm>

#include "runtime/hdf5/library.h"

namespace tfl::hdf5 {

namespace {

class Writer {
 public:
  explicit Writer(std::string& error) : error_(error) {}

  void write(const Node& root, std::string& file) {
    Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), made(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_fapl_core(access.get(), std::clamp<uint64_t>(elements_of(root) / 8, uint64_t{64} << 10, uint64_t{64} << 20), 0);
    Id out(H5Fcreate("file in memory", H5F_ACC_TRUNC, made.get(), access.get()), H5Fclose);
    if (!out) return failed();
    Id top(H5Gopen2(out.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!top) return failed();
    fill(top.get(), root);
    if (!error_.empty()) return;
    const ssize_t size = H5Fflush(out.get(), H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(out.get(), nullptr, 0);
    if (size < 0) return failed();
    file.resize(static_cast<size_t>(size));
    if (H5Fget_file_image(out.get(), file.data(), file.size()) != size) failed();
  }

 private:
  void failed() {
    if (error_.empty()) error_ = last_error();
  }

  static uint64_t elements_of(const Node& node) {
    uint64_t total = 0;
    if (!node.group && node.content.kind == Content::Kind::Array) {
      total = element_bytes(node.content.dtype);
      for (int64_t d : node.content.dims) total *= static_cast<uint64_t>(d);
    }
    for (const Node& child : node.children) total += elements_of(child);
    return total;
  }
  void fill(hid_t group, const Node& node) {
    attributes(group, node);
    for (const Node& child : node.children) {
      if (!error_.empty()) return;
      if (child.group) {
        Id inner(H5Gcreate2(group, child.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        if (!inner) return failed();
        fill(inner.get(), child);
      } else {
        data_set(group, child);
      }
    }
  }

  static Id space_of(const Content& c) {
    if (c.dims.empty()) return Id(H5Screate(H5S_SCALAR), H5Sclose);
    std::vector<hsize_t> dims(c.dims.begin(), c.dims.end());
    return Id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  }

  /// A text of its own has any length, those of an array have the longest one's, as NumPy's have.
  static Id type_of(const Content& c) {
    if (c.kind == Content::Kind::Array) return memory_type(c.dtype);
    Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    size_t longest = 1;
    for (const std::string& text : c.texts) longest = std::max(longest, text.size());
    H5Tset_size(type.get(), c.scalar_text ? H5T_VARIABLE : longest);
    H5Tset_strpad(type.get(), c.scalar_text ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
    if (c.scalar_text) H5Tset_cset(type.get(), H5T_CSET_UTF8);
    return type;
  }

  template <class Put>
  void put(hid_t type, const Content& c, const Put& write) {
    if (c.kind == Content::Kind::Array) {
      if (write(type, c.elements) < 0) failed();
      return;
    }
    if (c.scalar_text) {
      const char* text = c.texts[0].c_str();
      if (write(type, &text) < 0) failed();
      return;
    }
    const size_t size = H5Tget_size(type);
    std::string all(size * c.texts.size(), '\0');
    for (size_t i = 0; i < c.texts.size(); ++i)
      std::ranges::copy(c.texts[i], all.begin() + static_cast<std::ptrdiff_t>(i * size));
    if (write(type, all.data()) < 0) failed();
  }

  void attributes(hid_t object, const Node& node) {
    for (const auto& [name, content] : node.attributes) {
      Id type = type_of(content), space = space_of(content);
      if (!type || !space) return failed();
      Id attribute(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      if (!attribute) return failed();
      const hid_t to = attribute.get();
      put(type.get(), content, [to](hid_t as, const void* from) { return H5Awrite(to, as, from); });
      if (!error_.empty()) return;
    }
  }

  void data_set(hid_t group, const Node& node) {
    Id type = type_of(node.content), space = space_of(node.content);
    if (!type || !space) return failed();
    Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!how || H5Pset_obj_track_times(how.get(), false) < 0) return failed();  // the same content is the same bytes, as h5py's
    Id set(H5Dcreate2(group, node.name.c_str(), type.get(), space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT), H5Dclose);
    if (!set) return failed();
    const hid_t to = set.get();
    put(type.get(), node.content,
        [to](hid_t as, const void* from) { return H5Dwrite(to, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, from); });
    attributes(to, node);
  }

  std::string& error_;
};

}  // namespace

void write(const Node& root, std::string& file, std::string& error) {
  prepare();
  Writer(error).write(root, file);
}

}  // namespace tfl::hdf5
