// What ANTLR's runtime refers to and no parser of ours uses: patterns of trees can be found by paths, and the lexer of these paths reads
// a grammar of its own before main(). With these in its place the linker leaves it out. Patterns themselves read text in a way that can only be
// part of a program: without them the same objects become a library (libtfl).
#include <antlr4-runtime.h>
#include <tree/pattern/Chunk.h>
#include <tree/pattern/ParseTreeMatch.h>
#include <tree/pattern/ParseTreePattern.h>
#include <tree/pattern/ParseTreePatternMatcher.h>
#include <tree/xpath/XPath.h>
#include <tree/xpath/XPathElement.h>

#include <cstdlib>

namespace antlr4::tree::xpath {

XPath::XPath(Parser* parser, const std::string& path) : _path(path), _parser(parser) {}
std::vector<std::unique_ptr<XPathElement>> XPath::split(const std::string&) { return {}; }
std::vector<ParseTree*> XPath::evaluate(ParseTree*) { return {}; }
std::unique_ptr<XPathElement> XPath::getXPathElement(Token*, bool) { return nullptr; }

}  // namespace antlr4::tree::xpath

namespace antlr4::tree::pattern {

namespace {
[[noreturn]] void unused() { std::abort(); }
}  // namespace

ParseTreePatternMatcher::ParseTreePatternMatcher(Lexer* lexer, Parser* parser) : _lexer(lexer), _parser(parser) {}
ParseTreePatternMatcher::~ParseTreePatternMatcher() = default;
void ParseTreePatternMatcher::setDelimiters(const std::string&, const std::string&, const std::string&) {}
bool ParseTreePatternMatcher::matches(ParseTree*, const std::string&, int) { return false; }
bool ParseTreePatternMatcher::matches(ParseTree*, const ParseTreePattern&) { return false; }
ParseTreeMatch ParseTreePatternMatcher::match(ParseTree*, const std::string&, int) { unused(); }
ParseTreeMatch ParseTreePatternMatcher::match(ParseTree*, const ParseTreePattern&) { unused(); }
ParseTreePattern ParseTreePatternMatcher::compile(const std::string&, int) { unused(); }
Lexer* ParseTreePatternMatcher::getLexer() { return _lexer; }
Parser* ParseTreePatternMatcher::getParser() { return _parser; }
std::vector<std::unique_ptr<Token>> ParseTreePatternMatcher::tokenize(const std::string&) { return {}; }
std::vector<Chunk> ParseTreePatternMatcher::split(const std::string&) { unused(); }
ParseTree* ParseTreePatternMatcher::matchImpl(ParseTree*, ParseTree*, std::map<std::string, std::vector<ParseTree*>>&) {
  return nullptr;
}
RuleTagToken* ParseTreePatternMatcher::getRuleTagToken(ParseTree*) { return nullptr; }

}  // namespace antlr4::tree::pattern
