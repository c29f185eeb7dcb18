;;; tfl-mode.el --- TFL, a tensor scripting language -*- lexical-binding: t -*-
;; Python's mode for editing, and `tfl lsp' by Eglot for everything that asks what names mean.

(require 'python)

;;;###autoload
(define-derived-mode tfl-mode python-mode "TFL"
  "Major mode for TFL."
  (setq-local compile-command (concat "tfl run " (if buffer-file-name (shell-quote-argument buffer-file-name) ""))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.tfl\\'" . tfl-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(tfl-mode . ("tfl" "lsp"))))

(with-eval-after-load 'dape
  (add-to-list 'dape-configs '(tfl modes (tfl-mode) command "tfl" command-args ("debug" "--dap") :type "tfl" :request "launch" :program dape-buffer-default)))

(add-hook 'tfl-mode-hook 'eglot-ensure)

(provide 'tfl-mode)
;;; tfl-mode.el ends here
