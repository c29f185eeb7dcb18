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

-- Inlay hints show dtypes and shapes (Neovim 0.10).
vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "tfl" and vim.lsp.inlay_hint then
      pcall(vim.lsp.inlay_hint.enable, true, { bufnr = event.buf })
    end
  end,
})

local found, dap = pcall(require, "dap")
if found then
  dap.adapters.tfl = { type = "executable", command = "tfl", args = { "debug", "--dap" } }
  dap.configurations.tfl = { { type = "tfl", request = "launch", name = "this file", program = "${file}" } }
end
