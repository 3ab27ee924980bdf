//! Symbols available in every Python process.
//!
//! The interpreter has loaded its API, libm, libpthread, libdl, librt and libutil, so modules that
//! use them without a NEEDED entry load, too. Their references to these symbols have no version.

/// Beginnings of names of the Python API, stack unwinding, libpthread, librt (clocks, timers,
/// message queues, asynchronous I/O), and the floating-point environment.
const PREFIXES: &[&str] = &[
    "Py",
    "_Py",
    "_Unwind_",
    "pthread_",
    "sem_",
    "clock_",
    "timer_",
    "mq_",
    "aio_",
    "feclear",
    "fedisable",
    "feenable",
    "feget",
    "fehold",
    "feraise",
    "feset",
    "fetest",
    "feupdate",
];

/// Other names of libdl, librt, libutil and libm.
const NAMES: &[&str] = &[
    "dladdr",
    "dladdr1",
    "dlclose",
    "dlerror",
    "dlinfo",
    "dlmopen",
    "dlopen",
    "dlsym",
    "dlvsym",
    "forkpty",
    "lgamma_r",
    "lgammaf_r",
    "lgammal_r",
    "lio_listio",
    "login",
    "login_tty",
    "logout",
    "logwtmp",
    "openpty",
    "shm_open",
    "shm_unlink",
    "signgam",
];

/// Functions of glibc's libm (C11, 7.3 and 7.12, C23, GNU and older Unix), also with the suffixes
/// `f` and `l`.
const MATHEMATICS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cabs",
    "cacos",
    "cacosh",
    "carg",
    "casin",
    "casinh",
    "catan",
    "catanh",
    "cbrt",
    "ccos",
    "ccosh",
    "ceil",
    "cexp",
    "cimag",
    "clog",
    "clog10",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "cpow",
    "cproj",
    "creal",
    "csin",
    "csinh",
    "csqrt",
    "ctan",
    "ctanh",
    "drem",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "finite",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gamma",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nan",
    "nearbyint",
    "nextafter",
    "nexttoward",
    "pow",
    "remainder",
    "remquo",
    "rint",
    "round",
    "roundeven",
    "scalb",
    "scalbln",
    "scalbn",
    "significand",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
];

pub(super) fn is_in_every_process(name: &str) -> bool {
    let has_base_before =
        |suffix| name.strip_suffix(suffix).is_some_and(|name| MATHEMATICS.contains(&name));
    PREFIXES.iter().any(|start| name.starts_with(start))
        || NAMES.contains(&name)
        || MATHEMATICS.contains(&name)
        || has_base_before('f')
        || has_base_before('l')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_symbols_of_the_interpreter() {
        for name in [
            "PyList_New",
            "dlopen",
            "sqrtf",
            "powl",
            "lgamma_r",
            "lgammaf_r",
            "lgammal_r",
            "pthread_create",
            "_Unwind_GetIP",
        ] {
            assert!(is_in_every_process(name), "{name}");
        }
        for name in ["hipMalloc", "sqrtx", "lgamma_rf", "dlother", "_ZN3fooEv", "malloc"] {
            assert!(!is_in_every_process(name), "{name}");
        }
    }
}
