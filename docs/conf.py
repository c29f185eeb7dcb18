# How Sphinx makes the book of these pages: `./dev docs`.
project = "TFL"
author = copyright = "the TFL authors"
extensions = ["myst_parser"]
root_doc = "docs/index"
exclude_patterns = ["docs/README.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "TFL"
html_static_path = ["book.css"]
html_css_files = ["book.css"]
# Debian's Furo comes without the dark colours; these are close to those of the theme.
html_theme_options = {"dark_css_variables": {
    "color-foreground-primary": "#ffffffcc", "color-foreground-secondary": "#9ca0a5", "color-foreground-muted": "#81868d", "color-foreground-border": "#666666",
    "color-background-primary": "#131416", "color-background-secondary": "#1a1c1e", "color-background-hover": "#1e2124ff",
    "color-background-hover--transparent": "#1e212400", "color-background-border": "#303335", "color-background-item": "#444444",
    "color-announcement-background": "#000000dd", "color-announcement-text": "#eeebee", "color-brand-primary": "#2b8cee", "color-brand-content": "#368ce2",
    "color-highlighted-background": "#083563", "color-card-background": "#18181a", "color-card-border": "#1a1c1e", "color-guilabel-background": "#08356380",
    "color-guilabel-border": "#13395f80", "color-api-keyword": "#9ca0a5",
}}
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
highlight_language = "text"
# Blocks of kinds that are no language, and the numbers of headings that skip a level, are meant so.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]


def setup(app):
    from sphinx.highlighting import lexer_classes

    from pygments.lexers import BashSessionLexer, TextLexer
    lexer_classes.update(output=TextLexer, tensorflow=TextLexer, console=BashSessionLexer)
