-- Starts `tfl lsp` in Neovim for files of TFL: require("tfl")
vim.api.nvim_create_autocmd("FileType", {
  pattern = "tfl",
  callback = function(event)
    vim.lsp.start({
      name = "tfl",
      cmd = { "tfl", "lsp" },
      root_dir = vim.fs.dirname(vim.fs.find({ ".git" }, { upward = true, path = event.file })[1]) or vim.fn.getcwd(),
    })
  end,
})
