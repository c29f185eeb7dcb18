#include "codegen/load/loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace tfl::codegen {

namespace {

constexpr uint64_t kMostCodeBytes = uint64_t{1} << 28;  // of memory for one object
constexpr uint64_t kMostAlignment = 4096;
constexpr uint32_t kNoSlot = UINT32_MAX;
constexpr size_t kStubBytes = 8;  // jmp *[rip + slot]

/// What machine code may call beside the services: what the compiler makes of copies and fills.
struct External {
  std::string_view name;
  uint64_t address() const { return reinterpret_cast<uint64_t>(function); }
  const void* function;
};
const External* find_external(std::string_view name) {
  static const External kExternals[] = {
      {"memcpy", reinterpret_cast<const void*>(&std::memcpy)}, {"memmove", reinterpret_cast<const void*>(&std::memmove)},
      {"memset", reinterpret_cast<const void*>(&std::memset)}, {"memcmp", reinterpret_cast<const void*>(&std::memcmp)},
      {"bcmp", reinterpret_cast<const void*>(&std::memcmp)},
  };
  for (const External& e : kExternals) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

Failure damaged(std::string_view what) { return fail(ErrorKind::InternalError, "machine code cannot be loaded: {}", what); }

enum class Part : uint8_t { code, constant, data, none };  // runs, is read, is written, is not loaded
constexpr size_t kParts = 3;

uint64_t rounded(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

/// One object on its way into memory. Every number in it is taken for wrong until it was compared with a size.
class Loader {
 public:
  Loader(std::string_view object, const CodeListeners& listeners) : object_(object), listeners_(listeners) {}

  Result<std::shared_ptr<const LoadedCode>> run() {
    TFL_TRY(read_header());
    TFL_TRY(read_sections());
    TFL_TRY(read_symbols());
    TFL_TRY(each_relocation([&](const Section& s, const Elf64_Rela& r) { return plan_relocation(s, r); }));
    TFL_TRY(place());
    // From here on the memory belongs to `code_`.
    for (const Section& s : sections_) {
      if (s.part != Part::none && s.header.sh_type != SHT_NOBITS && s.header.sh_size > 0)
        std::memcpy(address_of(s), object_.data() + s.header.sh_offset, s.header.sh_size);
    }
    TFL_TRY(write_slots());
    TFL_TRY(each_relocation([&](const Section& s, const Elf64_Rela& r) { return relocate(s, r); }));
    TFL_TRY(protect());
    TFL_TRY(find_entry());
    tell();
    return std::shared_ptr<const LoadedCode>(std::move(code_));
  }

 private:
  struct Section {
    Elf64_Shdr header;
    std::string_view name;
    Part part = Part::none;
    uint64_t offset = 0;  // in its part
  };

  bool inside(uint64_t offset, uint64_t size) const { return offset <= object_.size() && size <= object_.size() - offset; }
  /// A piece of the file as a struct; the place was checked. Nothing in a damaged file is aligned.
  template <class T>
  T at(uint64_t offset) const {
    T t;
    std::memcpy(&t, object_.data() + offset, sizeof t);
    return t;
  }
  std::string_view text(const Section& strings, uint64_t offset) const {
    if (strings.header.sh_type != SHT_STRTAB || offset >= strings.header.sh_size) return {};
    std::string_view all = object_.substr(strings.header.sh_offset, strings.header.sh_size);
    size_t end = all.find('\0', offset);
    return end == all.npos ? std::string_view() : all.substr(offset, end - offset);
  }

  Result<void> read_header() {
    if (!inside(0, sizeof header_)) return damaged("it is too short");
    header_ = at<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_ident[EI_DATA] != ELFDATA2LSB || header_.e_type != ET_REL || header_.e_machine != EM_X86_64)
      return damaged("it is no object for this machine");
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum == 0 || header_.e_shnum >= SHN_LORESERVE ||
        header_.e_shstrndx >= header_.e_shnum || !inside(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr)))
      return damaged("its table of sections is wrong");
    return {};
  }

  Result<void> read_sections() {
    sections_.resize(header_.e_shnum);
    for (size_t i = 0; i < sections_.size(); ++i) {
      Elf64_Shdr& h = sections_[i].header;
      h = at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      bool empty = h.sh_type == SHT_NOBITS || h.sh_type == SHT_NULL;
      if (!empty && !inside(h.sh_offset, h.sh_size)) return damaged("a section lies outside");
    }
    uint64_t sizes[kParts] = {};
    for (Section& s : sections_) {
      s.name = text(sections_[header_.e_shstrndx], s.header.sh_name);
      s.part = part_of(s);
      if (s.part == Part::none) continue;
      if (s.header.sh_flags & SHF_TLS) return damaged("it has thread-local data");
      uint64_t align = std::max<uint64_t>(s.header.sh_addralign, 1);
      if (!std::has_single_bit(align) || align > kMostAlignment) return damaged("a section's alignment is wrong");
      uint64_t& size = sizes[static_cast<size_t>(s.part)];
      s.offset = rounded(size, align);
      if (s.header.sh_size > kMostCodeBytes) return damaged("it is too large");
      size = s.offset + s.header.sh_size;
      if (size > kMostCodeBytes) return damaged("it is too large");
    }
    std::memcpy(part_bytes_, sizes, sizeof sizes);
    return {};
  }

  // Tables for unwinding are left out: nothing is thrown through this code, and debuggers read them in the file.
  static Part part_of(const Section& s) {
    const Elf64_Shdr& h = s.header;
    if (!(h.sh_flags & SHF_ALLOC) || h.sh_type == SHT_X86_64_UNWIND || h.sh_type == SHT_NOTE || s.name == ".eh_frame")
      return Part::none;
    if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS) return Part::none;
    if (h.sh_flags & SHF_EXECINSTR) return Part::code;
    return (h.sh_flags & SHF_WRITE) && !s.name.starts_with(".data.rel.ro") ? Part::data : Part::constant;
  }

  Result<void> read_symbols() {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& h = sections_[i].header;
      if (h.sh_type != SHT_SYMTAB) continue;
      if (symbol_table_ != 0) return damaged("it has two tables of symbols");
      if (h.sh_entsize != sizeof(Elf64_Sym) || h.sh_size % sizeof(Elf64_Sym) != 0 || h.sh_link >= sections_.size())
        return damaged("its table of symbols is wrong");
      symbol_table_ = i;
      symbol_count_ = h.sh_size / sizeof(Elf64_Sym);
    }
    if (symbol_table_ == 0) return damaged("it has no symbols");
    slots_.assign(symbol_count_, kNoSlot);
    stubs_.assign(symbol_count_, kNoSlot);
    return {};
  }
  Elf64_Sym symbol(uint64_t i) const { return at<Elf64_Sym>(sections_[symbol_table_].header.sh_offset + i * sizeof(Elf64_Sym)); }
  std::string_view name_of(const Elf64_Sym& s) const {
    return text(sections_[sections_[symbol_table_].header.sh_link], s.st_name);
  }

  /// visit(section, relocation) for each relocation of a section that is loaded.
  template <class F>
  Result<void> each_relocation(const F& visit) {
    for (const Section& table : sections_) {
      const Elf64_Shdr& h = table.header;
      if (h.sh_type == SHT_REL) return damaged("it has relocations without addends");
      if (h.sh_type != SHT_RELA) continue;
      if (h.sh_info >= sections_.size() || h.sh_entsize != sizeof(Elf64_Rela) || h.sh_size % sizeof(Elf64_Rela) != 0)
        return damaged("a table of relocations is wrong");
      const Section& target = sections_[h.sh_info];
      if (target.part == Part::none) continue;
      if (target.header.sh_type == SHT_NOBITS || h.sh_link != symbol_table_) return damaged("a table of relocations is wrong");
      for (uint64_t i = 0; i < h.sh_size; i += sizeof(Elf64_Rela)) TFL_TRY(visit(target, at<Elf64_Rela>(h.sh_offset + i)));
    }
    return {};
  }

  static size_t width_of(uint64_t type) {
    switch (type) {
      case R_X86_64_64:
      case R_X86_64_PC64: return 8;
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
      case R_X86_64_32:
      case R_X86_64_32S: return 4;
      default: return 0;
    }
  }
  static bool through_slot(uint64_t type) {
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
  }

  /// Checks a relocation, and gives its symbol a slot or a stub where it needs one: functions of the program may lie too far
  /// away.
  Result<void> plan_relocation(const Section& s, const Elf64_Rela& r) {
    uint64_t type = ELF64_R_TYPE(r.r_info), index = ELF64_R_SYM(r.r_info);
    if (type == R_X86_64_NONE) return {};
    size_t width = width_of(type);
    if (width == 0) return fail(ErrorKind::InternalError, "machine code cannot be loaded: relocation {} is not known", type);
    if (index >= symbol_count_ || r.r_offset > s.header.sh_size || width > s.header.sh_size - r.r_offset)
      return damaged("a relocation is wrong");
    bool outside = index != 0 && symbol(index).st_shndx == SHN_UNDEF;
    if (through_slot(type) && slots_[index] == kNoSlot) slots_[index] = slot_count_++;
    if (outside && width == 4 && !through_slot(type) && stubs_[index] == kNoSlot) {
      stubs_[index] = stub_count_++;
      if (slots_[index] == kNoSlot) slots_[index] = slot_count_++;
    }
    return {};
  }

  Result<void> place() {
    auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    auto& code = part_bytes_[static_cast<size_t>(Part::code)];
    auto& constant = part_bytes_[static_cast<size_t>(Part::constant)];
    stubs_at_ = rounded(code, kStubBytes);
    code = stubs_at_ + stub_count_ * kStubBytes;
    slots_at_ = rounded(constant, sizeof(uint64_t));
    constant = slots_at_ + slot_count_ * sizeof(uint64_t);
    uint64_t total = 0;
    for (size_t i = 0; i < kParts; ++i) {
      part_at_[i] = total;
      part_bytes_[i] = rounded(part_bytes_[i], page);
      total += part_bytes_[i];
    }
    if (total == 0 || total > kMostCodeBytes) return damaged("its size is wrong");
    void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return damaged("the system has no memory for it");
    code_.reset(new LoadedCode);
    code_->memory_ = static_cast<std::byte*>(memory);
    code_->bytes_ = total;
    return {};
  }
  std::byte* part(Part p) const { return code_->memory_ + part_at_[static_cast<size_t>(p)]; }
  std::byte* address_of(const Section& s) const { return part(s.part) + s.offset; }
  uint64_t slot_address(uint32_t i) const {
    return reinterpret_cast<uint64_t>(part(Part::constant) + slots_at_ + i * sizeof(uint64_t));
  }
  uint64_t stub_address(uint32_t i) const { return reinterpret_cast<uint64_t>(part(Part::code) + stubs_at_ + i * kStubBytes); }

  Result<uint64_t> value_of(const Elf64_Sym& s) const {
    if (s.st_shndx == SHN_ABS) return s.st_value;
    if (s.st_shndx == SHN_UNDEF) {
      std::string_view name = name_of(s);
      const External* e = find_external(name);
      if (!e)
        return fail(ErrorKind::InternalError, "machine code cannot be loaded: there is no function '{}'", name.substr(0, 80));
      return e->address();
    }
    if (s.st_shndx >= sections_.size()) return damaged("a symbol has no section");
    const Section& section = sections_[s.st_shndx];
    if (section.part == Part::none || s.st_value > section.header.sh_size) return damaged("a symbol lies outside");
    return reinterpret_cast<uint64_t>(address_of(section)) + s.st_value;
  }

  Result<void> write_slots() {
    for (uint64_t i = 0; i < symbol_count_; ++i) {
      if (slots_[i] == kNoSlot) continue;
      uint64_t value = TFL_TRY(value_of(symbol(i)));
      std::memcpy(reinterpret_cast<void*>(slot_address(slots_[i])), &value, sizeof value);
      if (stubs_[i] == kNoSlot) continue;
      uint64_t stub = stub_address(stubs_[i]);
      auto distance = static_cast<int32_t>(slot_address(slots_[i]) - (stub + 6));  // both lie in one block of less than 2 GiB
      uint8_t jump[kStubBytes] = {0xFF, 0x25, 0, 0, 0, 0, 0xCC, 0xCC};
      std::memcpy(jump + 2, &distance, sizeof distance);
      std::memcpy(reinterpret_cast<void*>(stub), jump, sizeof jump);
    }
    return {};
  }

  Result<void> relocate(const Section& s, const Elf64_Rela& r) {
    uint64_t type = ELF64_R_TYPE(r.r_info), index = ELF64_R_SYM(r.r_info);
    if (type == R_X86_64_NONE) return {};
    std::byte* where = address_of(s) + r.r_offset;
    uint64_t value = 0;
    if (through_slot(type)) {
      value = slot_address(slots_[index]);
    } else if (stubs_[index] != kNoSlot && width_of(type) == 4) {
      value = stub_address(stubs_[index]);
    } else if (index != 0) {
      value = TFL_TRY(value_of(symbol(index)));
    }
    value += static_cast<uint64_t>(r.r_addend);
    bool absolute = type == R_X86_64_64 || type == R_X86_64_32 || type == R_X86_64_32S;
    if (!absolute) value -= reinterpret_cast<uint64_t>(where);
    if (width_of(type) == 8) {
      std::memcpy(where, &value, 8);
      return {};
    }
    auto number = static_cast<int64_t>(value);
    bool fits = type == R_X86_64_32
                    ? value <= std::numeric_limits<uint32_t>::max()
                    : number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max();
    if (!fits) return damaged("an address is too far away");
    auto small = static_cast<uint32_t>(value);
    std::memcpy(where, &small, 4);
    return {};
  }

  Result<void> protect() {
    static constexpr int kProtection[kParts] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (size_t i = 0; i < kParts; ++i) {
      if (part_bytes_[i] > 0 && mprotect(code_->memory_ + part_at_[i], part_bytes_[i], kProtection[i]) != 0)
        return damaged("the system does not let it run");
    }
    return {};
  }

  Result<void> find_entry() {
    for (uint64_t i = 1; i < symbol_count_; ++i) {
      Elf64_Sym s = symbol(i);
      if (s.st_shndx == SHN_UNDEF || s.st_shndx >= sections_.size() || ELF64_ST_BIND(s.st_info) != STB_GLOBAL ||
          name_of(s) != kEntryName)
        continue;
      const Section& section = sections_[s.st_shndx];
      if (section.part != Part::code || s.st_value >= section.header.sh_size) continue;
      code_->entry_ = reinterpret_cast<EntryFunction>(address_of(section) + s.st_value);
      return {};
    }
    return damaged("it has no entry");
  }

  void tell() {
    if (listeners_.debugger) {
      std::string copy(object_);
      for (size_t i = 0; i < sections_.size(); ++i) {
        if (sections_[i].part == Part::none) continue;
        auto address = reinterpret_cast<uint64_t>(address_of(sections_[i]));
        std::memcpy(copy.data() + header_.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr), &address,
                    sizeof address);
      }
      code_->debugger_ = announce_code(std::move(copy));
    }
    if (!listeners_.profiler) return;
    for (uint64_t i = 1; i < symbol_count_; ++i) {
      Elf64_Sym s = symbol(i);
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF || s.st_shndx >= sections_.size()) continue;
      const Section& section = sections_[s.st_shndx];
      if (section.part == Part::code && s.st_value < section.header.sh_size)
        map_symbol(address_of(section) + s.st_value, s.st_size, name_of(s));
    }
  }

  std::string_view object_;
  CodeListeners listeners_;
  Elf64_Ehdr header_{};
  std::vector<Section> sections_;
  size_t symbol_table_ = 0;
  uint64_t symbol_count_ = 0;
  std::vector<uint32_t> slots_, stubs_;  // by symbol: its address in memory, a jump there
  uint32_t slot_count_ = 0, stub_count_ = 0;
  uint64_t part_bytes_[kParts] = {}, part_at_[kParts] = {};
  uint64_t stubs_at_ = 0, slots_at_ = 0;
  std::unique_ptr<LoadedCode> code_;
};

Result<std::shared_ptr<const LoadedCode>> LoadedCode::load(std::string_view object, const CodeListeners& listeners) {
  return Loader(object, listeners).run();
}

LoadedCode::~LoadedCode() {
  if (debugger_) forget_code(debugger_);
  if (memory_) munmap(memory_, bytes_);
}

}  // namespace tfl::codegen
