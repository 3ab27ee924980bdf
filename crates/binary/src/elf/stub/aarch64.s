// The exec stub for aarch64 Linux: starts the program whose path, relative to the stub's own
// directory, follows this code (at `target`, ended by a NUL). src/binary/elf/stub.rs puts both into
// an executable; nothing else is in it, no libc and no loader. It is x86_64.s step by step.
//
// Everything is addressed relative to the program counter, so the bytes are complete without
// a linker:
//   aarch64-linux-gnu-as -o stub.o aarch64.s
//   aarch64-linux-gnu-objcopy -O binary -j .text stub.o aarch64.bin
// A test assembles this file again and compares.
//
// Registers that live from beginning to end (system calls change x0 alone):
//   sp   the frame; the path of the program is built at its start
//   x19  argv
//   x20  envp
// and once something failed:
//   w21  the error number
//   x22  the verb of the message, NUL-terminated
//   x23  the path the message is about, NUL-terminated
//   w24  the exit code

        .set    SYS_faccessat, 48
        .set    SYS_writev, 66
        .set    SYS_readlinkat, 78
        .set    SYS_exit_group, 94
        .set    SYS_execve, 221
        .set    AT_FDCWD, -100
        .set    F_OK, 0
        .set    STDERR, 2
        .set    ENOENT, 2
        .set    ENAMETOOLONG, 36
        // Two reasons of our own, numbered above everything the kernel uses up to 133.
        .set    NO_INTERPRETER, 250
        .set    NO_PROC, 251

        // The frame. The link's text is at most PATH_MAX (4096) long in current kernels and
        // a page in older ones (what fills the buffer is reported), the target at
        // most PATH_MAX with its NUL (stub.rs refuses longer ones): the sum always fits.
        .set    LINK_MAX, 0x2000
        .set    PIECES, 0x3000          // struct iovec[]: the message, piece by piece
        .set    DIGITS_END, 0x100       // from PIECES; a number, built backwards from here
        .set    FRAME, 0x4000

        .text
        .globl  _start
_start:
        // The kernel leaves argc, argv[], NULL, envp[], NULL on the stack.
        ldr     x0, [sp]
        add     x19, sp, #8
        add     x20, x19, x0, lsl #3
        add     x20, x20, #8
        sub     sp, sp, #FRAME

        // Where is this program? The link is resolved by the kernel: it holds no symlink,
        // no `..`, and doesn't depend on argv[0], PATH or the working directory.
        mov     x0, #AT_FDCWD
        adr     x1, proc_self_exe
        mov     x2, sp
        mov     x3, #LINK_MAX
        mov     x8, #SYS_readlinkat
        svc     #0
        neg     w21, w0
        tbnz    x0, #63, link_failed
        mov     w21, #ENAMETOOLONG      // a full buffer may have cut the path
        cmp     x0, #LINK_MAX
        b.hs    link_failed
        mov     w21, #ENOENT            // no absolute path: this is not a real /proc
        cbz     x0, link_failed
        ldrb    w1, [sp]
        cmp     w1, #'/'
        b.ne    link_failed

        // Cut the last component: x2 points behind the last slash.
        mov     x3, sp
        add     x2, x3, x0
1:      ldurb   w1, [x2, #-1]
        cmp     w1, #'/'
        b.eq    2f
        sub     x2, x2, #1
        b       1b

        // Each leading `../` of the target cuts one component more. The kernel's path has no
        // symlinks, so this says the same as leaving `..` in; scripts and messages get the
        // plain path. At the root it stays at the root.
2:      adr     x1, target
        add     x3, x3, #1
up:     ldrb    w4, [x1]
        cmp     w4, #'.'
        b.ne    join
        ldrb    w4, [x1, #1]
        cmp     w4, #'.'
        b.ne    join
        ldrb    w4, [x1, #2]
        cmp     w4, #'/'
        b.ne    join
        add     x1, x1, #3
        cmp     x2, x3
        b.ls    up
1:      sub     x2, x2, #1
        ldurb   w4, [x2, #-1]
        cmp     w4, #'/'
        b.ne    1b
        b       up

        // Append the rest of the target with its NUL.
join:   ldrb    w4, [x1], #1
        strb    w4, [x2], #1
        cbnz    w4, join

        // argv (and so argv[0]) and envp go on as they came. This returns only on failure.
        mov     x0, sp
        mov     x1, x19
        mov     x2, x20
        mov     x8, #SYS_execve
        svc     #0
        neg     w21, w0
        adr     x22, cannot_start
        mov     x23, sp

        // ENOENT has two meanings: no such program, or one whose interpreter (`#!` or
        // PT_INTERP) is missing. The second is so when the file itself is there.
        cmp     w21, #ENOENT
        b.ne    failed
        mov     x0, #AT_FDCWD
        mov     x1, sp
        mov     x2, #F_OK
        mov     x8, #SYS_faccessat
        svc     #0
        cbnz    x0, failed
        mov     w21, #NO_INTERPRETER
        b       failed

link_failed:
        adr     x22, cannot_read
        adr     x23, proc_self_exe
        cmp     w21, #ENOENT
        b.ne    failed
        mov     w21, #NO_PROC

        // The message: argv[0], verb, path, ": ", reason, in one system call, so that the
        // lines of programs which fail side by side don't mix. x9 is where its next piece goes.
failed: add     x9, sp, #PIECES
        ldr     x0, [x19]
        cbnz    x0, 1f                  // argc may be 0
        adr     x0, nameless
1:      bl      add_piece
        mov     x0, x22
        bl      add_piece
        mov     x0, x23
        bl      add_piece
        adr     x0, colon
        bl      add_piece

        // Look the reason up.
        adr     x0, reasons
1:      ldrb    w1, [x0], #1
        ldrb    w24, [x0], #1
        cbz     w1, numbered
        cmp     w1, w21
        b.eq    3f
2:      ldrb    w1, [x0], #1            // to the next entry, behind this one's NUL
        cbnz    w1, 2b
        b       1b
3:      bl      add_piece
        b       say

        // An error number that has no text of its own: the last entry, then the number.
numbered:
        bl      add_piece
        add     x0, sp, #PIECES
        add     x0, x0, #DIGITS_END
        strb    wzr, [x0]
        mov     w1, #10
1:      udiv    w2, w21, w1
        msub    w3, w2, w1, w21         // the remainder
        add     w3, w3, #'0'
        strb    w3, [x0, #-1]!
        mov     w21, w2
        cbnz    w2, 1b
        bl      add_piece

say:    adr     x0, newline
        bl      add_piece
        mov     x0, #STDERR
        add     x1, sp, #PIECES
        sub     x2, x9, x1              // how many pieces: (end - start) / 16
        lsr     x2, x2, #4
        mov     x8, #SYS_writev
        svc     #0
        mov     w0, w24
        mov     x8, #SYS_exit_group
        svc     #0
        brk     #0                      // not reached

        // Appends the NUL-terminated text at x0 to the message, whose end x9 moves on.
add_piece:
        mov     x1, x0
1:      ldrb    w2, [x1], #1
        cbnz    w2, 1b
        sub     x1, x1, x0
        sub     x1, x1, #1
        stp     x0, x1, [x9], #16
        ret

proc_self_exe:
        .asciz  "/proc/self/exe"
nameless:
        .asciz  "exec stub"
cannot_start:
        .asciz  ": cannot start "
cannot_read:
        .asciz  ": cannot read "
colon:  .asciz  ": "
newline:
        .asciz  "\n"

        // Error number, exit code, text. The exit codes are those of env(1) and the shells:
        // 127 when there is nothing to start, 126 when it is there but can't be started.
reasons:
        .byte   ENOENT, 127
        .asciz  "no such file or directory"
        .byte   20, 127                 // ENOTDIR
        .asciz  "a part of the path is not a directory"
        .byte   NO_PROC, 127
        .asciz  "is /proc mounted?"
        .byte   NO_INTERPRETER, 126
        .asciz  "the interpreter or loader it asks for is missing"
        .byte   13, 126                 // EACCES
        .asciz  "permission denied"
        .byte   8, 126                  // ENOEXEC
        .asciz  "not a program for this machine"
        .byte   7, 126                  // E2BIG
        .asciz  "too many arguments, or too large an environment"
        .byte   ENAMETOOLONG, 126
        .asciz  "the path is too long"
        .byte   40, 126                 // ELOOP
        .asciz  "too many symbolic links"
        .byte   26, 126                 // ETXTBSY
        .asciz  "the file is open for writing"
        .byte   0, 126                  // everything else
        .asciz  "error number "

target:                                 // stub.rs appends it here
