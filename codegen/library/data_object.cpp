#include "codegen/library/data_object.h"

#include <elf.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tfl::codegen {

namespace {

constexpr size_t kAlign = 64;

/// put(bytes) for one part of the object after the other, in order; false when one of them could not be put.
template <class Put>
bool emit(const DataObject& data, Cpu cpu, const Put& put) {
  enum Section : uint16_t { none, bytes, stack, symbols, symbol_names, section_names, count };
  constexpr char kNames[] = "\0.rodata.data\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab";
  const std::string names(kNames, sizeof kNames), own_name = '\0' + data.symbol + '\0';
  auto name = [&](const char* of) { return static_cast<Elf64_Word>(names.find(of)); };
  const size_t size = data.size(), begin = kAlign;
  static_assert(sizeof(Elf64_Ehdr) <= kAlign);

  Elf64_Sym symbol[2] = {};
  symbol[1].st_name = 1;
  symbol[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbol[1].st_other = STV_HIDDEN;
  symbol[1].st_shndx = bytes;
  symbol[1].st_size = size;

  Elf64_Shdr section[count] = {};
  size_t at = begin;
  auto place = [&](Section which, const char* of, Elf64_Word type, size_t length, size_t alignment) {
    at = (at + alignment - 1) / alignment * alignment;
    section[which].sh_name = name(of);
    section[which].sh_type = type;
    section[which].sh_offset = at;
    section[which].sh_size = length;
    section[which].sh_addralign = alignment;
    at += length;
  };
  place(bytes, ".rodata.data", SHT_PROGBITS, size, kAlign);
  section[bytes].sh_flags = SHF_ALLOC;
  place(stack, ".note.GNU-stack", SHT_PROGBITS, 0, 1);
  place(symbols, ".symtab", SHT_SYMTAB, sizeof symbol, 8);
  section[symbols].sh_link = symbol_names;
  section[symbols].sh_info = 1;
  section[symbols].sh_entsize = sizeof symbol[0];
  place(symbol_names, ".strtab", SHT_STRTAB, own_name.size(), 1);
  place(section_names, ".shstrtab", SHT_STRTAB, names.size(), 1);

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = cpu == Cpu::aarch64 ? EM_AARCH64 : EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = (at + 7) / 8 * 8;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof section[0];
  header.e_shnum = count;
  header.e_shstrndx = section_names;

  size_t written = 0;
  auto text = [&](std::string_view some) {
    written += some.size();
    return put(some);
  };
  auto raw = [&](const void* from, size_t length) { return text({static_cast<const char*>(from), length}); };
  auto until = [&](size_t where) { return text(std::string(where - written, '\0')); };
  if (!raw(&header, sizeof header) || !until(begin)) return false;
  for (const DataObject::Piece& p : data.pieces) {
    if (!text(p.bytes) || !raw(p.elements.raw(), p.elements.bytes())) return false;
  }
  return text(data.rest) && until(section[symbols].sh_offset) && raw(symbol, sizeof symbol) && text(own_name) && text(names) &&
         until(header.e_shoff) && raw(section, sizeof section);
}

}  // namespace

size_t DataObject::size() const {
  size_t n = rest.size();
  for (const Piece& p : pieces) n += p.bytes.size() + p.elements.bytes();
  return n;
}

std::string object_bytes(const DataObject& data, Cpu cpu) {
  std::string out;
  emit(data, cpu, [&](std::string_view some) {
    out.append(some);
    return true;
  });
  return out;
}

Result<void> write_object(const DataObject& data, Cpu cpu, const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"), std::fclose);
  auto put = [&](std::string_view some) { return std::fwrite(some.data(), 1, some.size(), file.get()) == some.size(); };
  if (!file || !emit(data, cpu, put) || std::fflush(file.get()) != 0)
    return fail(ErrorKind::OSError, "cannot write {}: {}", path, std::strerror(errno));
  return {};
}

}  // namespace tfl::codegen
