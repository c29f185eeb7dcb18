#include "runtime/hdf5/library.h"

namespace tfl::hdf5 {

namespace {

/// A little-endian float of two bytes with `exponent` bits.
Id short_float(size_t exponent) {
  Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const size_t fraction = 15 - exponent;
  H5Tset_fields(type.get(), 15, fraction, exponent, 0, fraction);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (size_t{1} << (exponent - 1)) - 1);
  return type;
}

/// What h5py makes of NumPy's bool.
Id truth_type() {
  Id type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

/// What h5py makes of bfloat16: two bytes that say nothing of themselves.
Id opaque_type() {
  Id type(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);
  H5Tset_tag(type.get(), "NUMPY:|V2");
  return type;
}

}  // namespace

Id memory_type(DType dtype) {
  switch (dtype) {
    case DType::F16: return short_float(5);
    case DType::BF16: return opaque_type();
    case DType::F32: return Id(H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose);
    case DType::F64: return Id(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose);
    case DType::I8: return Id(H5Tcopy(H5T_NATIVE_INT8), H5Tclose);
    case DType::I16: return Id(H5Tcopy(H5T_NATIVE_INT16), H5Tclose);
    case DType::I32: return Id(H5Tcopy(H5T_NATIVE_INT32), H5Tclose);
    case DType::I64: return Id(H5Tcopy(H5T_NATIVE_INT64), H5Tclose);
    case DType::U8: return Id(H5Tcopy(H5T_NATIVE_UINT8), H5Tclose);
    case DType::U16: return Id(H5Tcopy(H5T_NATIVE_UINT16), H5Tclose);
    case DType::U32: return Id(H5Tcopy(H5T_NATIVE_UINT32), H5Tclose);
    case DType::U64: return Id(H5Tcopy(H5T_NATIVE_UINT64), H5Tclose);
    case DType::Bool: return truth_type();
    default: return {};
  }
}

size_t element_bytes(DType dtype) {
  const Id type = memory_type(dtype);
  return type ? H5Tget_size(type.get()) : 0;
}

std::string last_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* e, void* to) -> herr_t {
        if (n == 0 && e->desc) *static_cast<std::string*>(to) = e->desc;
        return 0;
      },
      &text);
  return text.empty() ? "HDF5 does not say why" : text;
}

void prepare() {
  H5dont_atexit();
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread
  H5PLset_loading_state(0);
}

}  // namespace tfl::hdf5

extern "C" __attribute__((visibility("default"))) const tfl::hdf5::Table* tfl_hdf5_table() {
  static constexpr tfl::hdf5::Table table{tfl::hdf5::read, tfl::hdf5::write};
  return &table;
}
