// An HDF5 file into a tree. Nothing in the file is trusted: sizes are compared with the bytes that are there before memory is taken, links
// are not followed, each group is entered once.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/hdf5/library.h"

namespace tfl::hdf5 {

namespace {

constexpr uint64_t kMostDeflated = 1040;                 // bytes of one, at most
constexpr uint64_t kMostUnwritten = uint64_t{64} << 20;  // of a data set that the file holds nothing of but its fill value
constexpr int kMostDepth = 64;

/// The file's bytes, which HDF5 sees where they are.
struct Image {
  const void* bytes;
  static void* give(size_t, H5FD_file_image_op_t, void* self) { return const_cast<void*>(static_cast<Image*>(self)->bytes); }
  static void* keep(void* to, const void*, size_t, H5FD_file_image_op_t, void*) { return to; }
  static void* refuse(void*, size_t, H5FD_file_image_op_t, void*) { return nullptr; }
  static herr_t leave(void*, H5FD_file_image_op_t, void*) { return 0; }
  static void* same(void* self) { return self; }
  static herr_t forget(void*) { return 0; }
};

class Reader {
 public:
  Reader(const ReadRequest& request, std::string& error) : request_(request), error_(error) {}

  void read(Node& root) {
    if (!check_texts()) return void(error_ = "a collection of texts is not what it says");
    Image image{request_.file.data()};
    Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.get(), size_t{1} << 20, 0);
    H5FD_file_image_callbacks_t calls{Image::give, Image::keep, Image::refuse, Image::leave, Image::same, Image::forget, &image};
    H5Pset_file_image_callbacks(access.get(), &calls);
    H5Pset_file_image(access.get(), const_cast<char*>(request_.file.data()), request_.file.size());
    Id file(H5Fopen("file in memory", H5F_ACC_RDONLY, access.get()), H5Fclose);
    if (!file) return damaged("");
    Id top(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!top) return damaged("");
    enter(top.get(), root, 0);
  }

 private:
  void damaged(const std::string& where) {
    if (error_.empty()) error_ = (where.empty() ? "" : "'" + where + "': ") + last_error();
  }

  /// Texts of any length lie in collections, which HDF5 1.10 believes: what they say, and what refers into them, is looked at before it
  /// reads any. The longest text is what one of them can be at most.
  bool check_texts() {
    const std::string_view file = request_.file;
    std::map<uint64_t, std::map<uint16_t, uint64_t>> collections;  // by place: the bytes of each text by its number
    for (size_t at = 0; (at = file.find({"GCOL\1\0\0\0", 8}, at)) != file.npos; at += 8) {
      const uint64_t size = number<uint64_t>(at + 8);
      if (size < 16 || size > file.size() - at) return false;
      longest_ = std::max(longest_, size);
      auto& texts = collections[at];
      for (uint64_t p = at + 16, end = at + size; end - p >= 16;) {
        const auto which = number<uint16_t>(p);
        const auto bytes = number<uint64_t>(p + 8);
        if (which == 0) break;  // what follows is free
        if (bytes > end - p - 16) return false;
        texts[which] = bytes;
        p += std::min(16 + (bytes + 7) / 8 * 8, end - p);
      }
    }
    if (collections.empty()) return true;
    const uint64_t first = collections.begin()->first, last = collections.rbegin()->first;
    for (size_t at = 4; at + 12 <= file.size(); at += 8) {  // the older headers, which h5py writes, align what refers
      const auto place = number<uint64_t>(at);
      if (place < first || place > last) continue;
      const auto found = collections.find(place);
      const auto length = number<uint32_t>(at - 4);
      const auto which = number<uint32_t>(at + 8);
      if (found == collections.end() || length == 0 || length > file.size()) continue;
      const auto text = found->second.find(static_cast<uint16_t>(which));
      if (which > UINT16_MAX || text == found->second.end() || text->second < length) return false;
    }
    return true;
  }

  template <class T>
  T number(size_t at) const {
    T n = 0;
    if (at + sizeof n <= request_.file.size()) std::memcpy(&n, request_.file.data() + at, sizeof n);
    return n;
  }

  void enter(hid_t group, Node& node, int depth) {
    if (depth > kMostDepth) return void(error_ = "groups lie in each other too deeply");
    H5O_info_t info;
    if (H5Oget_info(group, &info) < 0) return damaged(node.name);
    if (!entered_.insert(info.addr).second) return void(error_ = "the group '" + node.name + "' has two names");
    attributes(group, node);
    std::vector<std::string> names;
    hsize_t at = 0;
    herr_t went = H5Literate(
        group, H5_INDEX_NAME, H5_ITER_INC, &at,
        [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
          static_cast<std::vector<std::string>*>(to)->emplace_back(name);
          return 0;
        },
        &names);
    if (went < 0) return damaged(node.name);
    for (std::string& name : names) {
      if (!error_.empty()) return;
      Node& child = node.children.emplace_back();
      child.name = std::move(name);
      member(group, child, depth);
    }
  }

  static void refuse(Node& node, const char* reason) {
    node.group = false;
    node.content.kind = Content::Kind::Refused;
    node.content.reason = reason;
  }

  void member(hid_t group, Node& node, int depth) {
    H5L_info_t link;
    if (H5Lget_info(group, node.name.c_str(), &link, H5P_DEFAULT) < 0) return damaged(node.name);
    if (link.type != H5L_TYPE_HARD) return refuse(node, link.type == H5L_TYPE_SOFT ? "SoftLink" : "ExternalLink");
    Id object(H5Oopen(group, node.name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) return damaged(node.name);
    switch (H5Iget_type(object.get())) {
      case H5I_GROUP: return enter(object.get(), node, depth + 1);
      case H5I_DATASET:
        node.group = false;
        attributes(object.get(), node);
        if (error_.empty()) data_set(object.get(), node);
        return;
      default: return refuse(node, "named Datatype");
    }
  }

  void attributes(hid_t object, Node& node) {
    hsize_t at = 0;
    std::vector<std::string> names;
    herr_t went = H5Aiterate2(
        object, H5_INDEX_NAME, H5_ITER_INC, &at,
        [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
          static_cast<std::vector<std::string>*>(to)->emplace_back(name);
          return 0;
        },
        &names);
    if (went < 0) return damaged(node.name);
    for (std::string& name : names) {
      Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
      if (!attribute) return damaged(name);
      Id type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
      if (!type || !space) return damaged(name);
      Content content;
      const hid_t from = attribute.get();
      elements(type.get(), space.get(), H5Aget_storage_size(from), false, false, name, content,
               [from](hid_t as, void* to) { return H5Aread(from, as, to); });
      if (!error_.empty()) return;
      node.attributes.emplace_back(std::move(name), std::move(content));
    }
  }

  void data_set(hid_t set, Node& node) {
    Id type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose), made(H5Dget_create_plist(set), H5Pclose);
    if (!type || !space || !made) return damaged(node.name);
    if (H5Pget_external_count(made.get()) > 0) return refuse(node, "external Dataset");
    const H5D_layout_t layout = H5Pget_layout(made.get());
    if (layout == H5D_VIRTUAL) return refuse(node, "virtual Dataset");
    bool half = false;
    for (const auto& [name, content] : node.attributes)
      half = half ||
             (name == "dtype" && content.kind == Content::Kind::Texts && content.texts == std::vector<std::string>{"bfloat16"});
    const bool packed = layout == H5D_CHUNKED && H5Pget_nfilters(made.get()) > 0;
    elements(type.get(), space.get(), H5Dget_storage_size(set), packed, half, node.name, node.content,
             [set](hid_t as, void* to) { return H5Dread(set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
  }

  /// The dtype that elements of a file's type get.
  static std::optional<DType> dtype_of(hid_t type, bool half) {
    const size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
      case H5T_INTEGER: {
        const bool sign = H5Tget_sign(type) == H5T_SGN_2;
        if (size == 1) return sign ? DType::I8 : DType::U8;
        if (size == 2) return sign ? DType::I16 : DType::U16;
        if (size == 4) return sign ? DType::I32 : DType::U32;
        if (size == 8) return sign ? DType::I64 : DType::U64;
        return {};
      }
      case H5T_FLOAT: {
        if (size == 4) return DType::F32;
        if (size == 8) return DType::F64;
        size_t sign, exponent_at, exponent, fraction_at, fraction;
        if (size == 2 && H5Tget_fields(type, &sign, &exponent_at, &exponent, &fraction_at, &fraction) >= 0 && exponent == 5)
          return DType::F16;
        return {};
      }
      case H5T_ENUM: {
        int8_t no = -1, yes = -1;
        if (size == 1 && H5Tget_nmembers(type) == 2 && H5Tenum_valueof(type, "FALSE", &no) >= 0 &&
            H5Tenum_valueof(type, "TRUE", &yes) >= 0 && no == 0 && yes == 1)
          return DType::Bool;
        return {};
      }
      case H5T_OPAQUE: return half && size == 2 ? std::optional(DType::BF16) : std::nullopt;
      default: return {};
    }
  }

  template <class Read>
  void elements(hid_t type, hid_t space, uint64_t stored, bool packed, bool half, const std::string& where, Content& to,
                const Read& read) {
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
    const H5S_class_t shape = H5Sget_simple_extent_type(space);
    if (shape == H5S_NULL) return refuse_content(to, "empty");
    if (rank < 0 || shape == H5S_NO_CLASS) return damaged(where);
    uint64_t count = 1, bytes = 0;
    const size_t size = H5Tget_size(type);
    for (int i = 0; i < rank; ++i) {
      to.dims.push_back(static_cast<int64_t>(dims[i]));
      if (dims[i] > INT64_MAX || __builtin_mul_overflow(count, dims[i], &count)) return too_large(where);
    }
    if (size == 0 || __builtin_mul_overflow(count, size, &bytes)) return too_large(where);
    const uint64_t there = packed ? std::min(stored, UINT64_MAX / kMostDeflated) * kMostDeflated : stored;
    if (stored > request_.file.size() || bytes > (stored == 0 ? kMostUnwritten : there)) return too_large(where);
    if (H5Tget_class(type) == H5T_STRING) return texts(type, count, bytes, rank, where, to, read);
    const std::optional<DType> dtype = dtype_of(type, half);
    if (!dtype) return refuse_content(to, "its type of elements is not known here");
    to.dtype = *dtype;
    to.number = arrays_++;
    to.elements = request_.memory(*dtype, to.dims);
    if (!to.elements) return void(error_ = "no memory");
    Id same(*dtype == DType::BF16 ? H5Tcopy(type) : hid_t{-1}, H5Tclose), as = memory_type(*dtype);
    if (count > 0 && read(same ? same.get() : as.get(), to.elements) < 0) damaged(where);
  }

  template <class Read>
  void texts(hid_t type, uint64_t count, uint64_t bytes, int rank, const std::string& where, Content& to, const Read& read) {
    to.kind = Content::Kind::Texts;
    to.scalar_text = rank == 0;
    const bool varying = H5Tis_variable_str(type) > 0;
    uint64_t most = 0;
    if (__builtin_mul_overflow(count, varying ? longest_ + 48 : H5Tget_size(type) + 48, &most) || most > request_.most_text)
      return too_large(where);
    if (count == 0) return;
    Id as(H5Tcopy(type), H5Tclose);
    to.texts.reserve(count);
    if (!varying) {
      const size_t size = H5Tget_size(type);
      std::string all(bytes, '\0');
      if (read(as.get(), all.data()) < 0) return damaged(where);
      const H5T_str_t padding = H5Tget_strpad(type);
      for (uint64_t i = 0; i < count; ++i) {
        std::string_view text = std::string_view(all).substr(i * size, size);
        if (padding == H5T_STR_SPACEPAD)
          text = text.substr(0, text.find_last_not_of(' ') + 1);
        else
          text = text.substr(0, text.find('\0'));
        to.texts.emplace_back(text);
      }
      return;
    }
    std::vector<char*> found(count, nullptr);
    if (read(as.get(), found.data()) < 0) return damaged(where);
    for (char*& text : found) {
      to.texts.emplace_back(text ? text : "");
      if (text) H5free_memory(text);
    }
  }

  static void refuse_content(Content& to, const char* reason) {
    to.kind = Content::Kind::Refused;
    to.reason = reason;
  }
  void too_large(const std::string& where) { error_ = "'" + where + "' says that it holds more than is in the file"; }

  const ReadRequest& request_;
  std::string& error_;
  std::set<haddr_t> entered_;
  uint64_t longest_ = 0;  // text, in bytes
  size_t arrays_ = 0;
};

}  // namespace

void read_here(const ReadRequest& request, Node& root, std::string& error) { Reader(request, error).read(root); }

}  // namespace tfl::hdf5
