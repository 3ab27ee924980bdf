# The exec stub for x86-64 Linux: starts the program whose path, relative to the stub's own
# directory, follows this code (at `target`, ended by a NUL). src/binary/elf/stub.rs puts both into
# an executable; nothing else is in it, no libc and no loader.
#
# Everything is addressed relative to rip, so the bytes are complete without a linker:
#   as -o stub.o x86_64.s && objcopy -O binary -j .text stub.o x86_64.bin
# A test assembles this file again and compares.
#
# Registers that live from beginning to end (system calls keep all but rax, rcx and r11):
#   rsp  the frame; the path of the program is built at its start
#   rbx  argv
#   rbp  envp
# and once something failed:
#   r12d the error number
#   r13  the verb of the message, NUL-terminated
#   r14  the path the message is about, NUL-terminated

        .intel_syntax noprefix

        .set    SYS_writev, 20
        .set    SYS_execve, 59
        .set    SYS_access, 21
        .set    SYS_readlink, 89
        .set    SYS_exit_group, 231
        .set    F_OK, 0
        .set    STDERR, 2
        .set    ENOENT, 2
        .set    ENAMETOOLONG, 36
        # Two reasons of our own, numbered above everything the kernel uses up to 133.
        .set    NO_INTERPRETER, 250
        .set    NO_PROC, 251

        # The frame. The link's text is at most PATH_MAX (4096) long in current kernels and a
        # page in older ones (what fills the buffer is reported), the target at most PATH_MAX
        # with its NUL (stub.rs refuses longer ones): the sum always fits.
        .set    LINK_MAX, 0x2000
        .set    PIECES, 0x3000          # struct iovec[]: the message, piece by piece
        .set    DIGITS_END, 0x3100      # a number in decimal, built backwards from here
        .set    FRAME, 0x4000

        .text
        .globl  _start
_start:
        # The kernel leaves argc, argv[], NULL, envp[], NULL on the stack.
        mov     rax, [rsp]
        lea     rbx, [rsp + 8]
        lea     rbp, [rbx + rax*8 + 8]
        sub     rsp, FRAME

        # Where is this program? The link is resolved by the kernel: it holds no symlink,
        # no `..`, and doesn't depend on argv[0], PATH or the working directory.
        lea     rdi, [rip + proc_self_exe]
        mov     rsi, rsp
        mov     edx, LINK_MAX
        mov     eax, SYS_readlink
        syscall
        mov     r12d, eax
        neg     r12d
        test    eax, eax
        js      link_failed
        mov     r12d, ENAMETOOLONG      # a full buffer may have cut the path
        cmp     eax, LINK_MAX
        jae     link_failed
        mov     r12d, ENOENT            # no absolute path: this is not a real /proc
        test    eax, eax
        jz      link_failed
        cmp     byte ptr [rsp], '/'
        jne     link_failed

        # Cut the last component: rcx points behind the last slash.
        lea     rcx, [rsp + rax]
1:      cmp     byte ptr [rcx - 1], '/'
        je      2f
        dec     rcx
        jmp     1b

        # Each leading `../` of the target cuts one component more. The kernel's path has no
        # symlinks, so this says the same as leaving `..` in; scripts and messages get the
        # plain path. At the root it stays at the root.
2:      lea     rsi, [rip + target]
        lea     rdx, [rsp + 1]
up:     cmp     word ptr [rsi], 0x2e2e  # ".."
        jne     join
        cmp     byte ptr [rsi + 2], '/'
        jne     join
        add     rsi, 3
        cmp     rcx, rdx
        jbe     up
1:      dec     rcx
        cmp     byte ptr [rcx - 1], '/'
        jne     1b
        jmp     up

        # Append the rest of the target with its NUL.
join:   mov     al, [rsi]
        mov     [rcx], al
        inc     rsi
        inc     rcx
        test    al, al
        jnz     join

        # argv (and so argv[0]) and envp go on as they came. This returns only on failure.
        mov     rdi, rsp
        mov     rsi, rbx
        mov     rdx, rbp
        mov     eax, SYS_execve
        syscall
        mov     r12d, eax
        neg     r12d
        lea     r13, [rip + cannot_start]
        mov     r14, rsp

        # ENOENT has two meanings: no such program, or one whose interpreter (`#!` or
        # PT_INTERP) is missing. The second is so when the file itself is there.
        cmp     r12d, ENOENT
        jne     failed
        mov     rdi, rsp
        mov     esi, F_OK
        mov     eax, SYS_access
        syscall
        test    eax, eax
        jnz     failed
        mov     r12d, NO_INTERPRETER
        jmp     failed

link_failed:
        lea     r13, [rip + cannot_read]
        lea     r14, [rip + proc_self_exe]
        cmp     r12d, ENOENT
        jne     failed
        mov     r12d, NO_PROC

        # The message: argv[0], verb, path, ": ", reason, in one system call, so that the
        # lines of programs which fail side by side don't mix.
failed: lea     rdi, [rsp + PIECES]
        mov     rsi, [rbx]
        test    rsi, rsi                # argc may be 0
        jnz     1f
        lea     rsi, [rip + nameless]
1:      call    add_piece
        mov     rsi, r13
        call    add_piece
        mov     rsi, r14
        call    add_piece
        lea     rsi, [rip + colon]
        call    add_piece

        # Look the reason up; ebp becomes the exit code (envp isn't needed any more).
        lea     rsi, [rip + reasons]
1:      movzx   eax, byte ptr [rsi]
        movzx   ebp, byte ptr [rsi + 1]
        add     rsi, 2
        test    eax, eax
        jz      numbered
        cmp     eax, r12d
        je      2f
3:      inc     rsi                     # to the next entry, behind this one's NUL
        cmp     byte ptr [rsi - 1], 0
        jne     3b
        jmp     1b
2:      call    add_piece
        jmp     say

        # An error number that has no text of its own: the last entry, then the number.
numbered:
        call    add_piece
        lea     rsi, [rsp + DIGITS_END]
        mov     byte ptr [rsi], 0
        mov     eax, r12d
        mov     ecx, 10
1:      xor     edx, edx
        div     ecx
        add     edx, '0'
        dec     rsi
        mov     [rsi], dl
        test    eax, eax
        jnz     1b
        call    add_piece

say:    lea     rsi, [rip + newline]
        call    add_piece
        mov     rdx, rdi                # how many pieces: (end - start) / 16
        lea     rsi, [rsp + PIECES]
        sub     rdx, rsi
        shr     edx, 4
        mov     edi, STDERR
        mov     eax, SYS_writev
        syscall
        mov     edi, ebp
        mov     eax, SYS_exit_group
        syscall
        ud2                             # not reached

        # Appends the NUL-terminated text at rsi to the message, whose end rdi moves on.
add_piece:
        mov     [rdi], rsi
        xor     eax, eax
1:      cmp     byte ptr [rsi + rax], 0
        je      2f
        inc     rax
        jmp     1b
2:      mov     [rdi + 8], rax
        add     rdi, 16
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

        # Error number, exit code, text. The exit codes are those of env(1) and the shells:
        # 127 when there is nothing to start, 126 when it is there but can't be started.
reasons:
        .byte   ENOENT, 127
        .asciz  "no such file or directory"
        .byte   20, 127                 # ENOTDIR
        .asciz  "a part of the path is not a directory"
        .byte   NO_PROC, 127
        .asciz  "is /proc mounted?"
        .byte   NO_INTERPRETER, 126
        .asciz  "the interpreter or loader it asks for is missing"
        .byte   13, 126                 # EACCES
        .asciz  "permission denied"
        .byte   8, 126                  # ENOEXEC
        .asciz  "not a program for this machine"
        .byte   7, 126                  # E2BIG
        .asciz  "too many arguments, or too large an environment"
        .byte   ENAMETOOLONG, 126
        .asciz  "the path is too long"
        .byte   40, 126                 # ELOOP
        .asciz  "too many symbolic links"
        .byte   26, 126                 # ETXTBSY
        .asciz  "the file is open for writing"
        .byte   0, 126                  # everything else
        .asciz  "error number "

target:                                 # stub.rs appends it here
