autocmd BufRead,BufNewFile *.tfl setfiletype tfl | setlocal syntax=python commentstring=#\ %s expandtab shiftwidth=4
