#include "codegen/lld/linker.h"

#include <lld/Common/Driver.h>
#include <llvm/ObjCopy/CommonConfig.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/core/library_new.h"

LLD_HAS_DRIVER(elf)

namespace tfl::codegen {

namespace {

std::string link(const std::vector<std::string>& given) {
  std::vector<const char*> arguments = {"ld.lld"};
  for (const std::string& a : given) arguments.push_back(a.c_str());
  std::string said;
  llvm::raw_string_ostream stream(said);
  lld::Result done = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  stream.flush();
  if (done.retCode == 0) return {};
  return said.empty() ? "the linker failed" : said;
}

// The object again with local symbols, as the only member of an archive.
llvm::Error archive(const LinkJob& job) {
  llvm::Expected<llvm::object::OwningBinary<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createObjectFile(job.object);
  if (!object) return object.takeError();
  llvm::objcopy::ConfigManager config;
  config.Common.InputFilename = job.object;
  config.Common.OutputFilename = job.archive;
  std::string shown = job.prefix + "*";  // the pattern refers to it
  auto pattern =
      llvm::objcopy::NameOrPattern::create(shown, llvm::objcopy::MatchStyle::Wildcard, [](llvm::Error e) { return e; });
  if (!pattern) return pattern.takeError();
  if (llvm::Error e = config.Common.SymbolsToKeepGlobal.addMatcher(std::move(pattern))) return e;
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error e = llvm::objcopy::executeObjcopyOnBinary(config, *object->getBinary(), stream)) return e;
  std::string_view path = job.object;
  llvm::NewArchiveMember member(llvm::MemoryBufferRef(bytes, path.substr(path.rfind('/') + 1)));
  std::vector<llvm::NewArchiveMember> members;
  members.push_back(std::move(member));
  return llvm::writeArchive(job.archive, members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU, true,
                            false);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void tfl_link_job(const LinkJob& job, std::string& error) {
  error = job.arguments.empty() ? std::string() : link(job.arguments);
  if (!error.empty() || job.archive.empty()) return;
  if (llvm::Error e = archive(job)) error = llvm::toString(std::move(e));
}

}  // namespace tfl::codegen
