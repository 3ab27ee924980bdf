//! Symbols available in every Python process.
//!
//! Modules without NEEDED entries for the API and for these parts of the C library load anyway,
//! with unversioned references.

/// Python API, threads, semaphores, clocks, timers, queues, floating-point environment, and stack
/// unwinding.
const BEGINNINGS: &[&str] = &[
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

/// libdl, librt and libutil.
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
    "lio_listio",
    "login",
    "login_tty",
    "logout",
    "logwtmp",
    "openpty",
    "shm_open",
    "shm_unlink",
];

/// libm (C11, 7.3 and 7.12, and older Unix functions), also with the suffixes `f` and `l`.
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
    "lgamma_r",
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
    "signgam",
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

pub(super) fn is_given(name: &str) -> bool {
    let of_type = |end| name.strip_suffix(end).is_some_and(|name| MATHEMATICS.contains(&name));
    BEGINNINGS.iter().any(|start| name.starts_with(start))
        || NAMES.contains(&name)
        || MATHEMATICS.contains(&name)
        || of_type('f')
        || of_type('l')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_symbols_of_the_interpreter() {
        let given = ["PyList_New", "dlopen", "sqrtf", "powl", "pthread_create", "_Unwind_GetIP"];
        assert!(given.into_iter().all(is_given));
        assert!(
            !["hipMalloc", "sqrtx", "dlother", "_ZN3fooEv", "malloc"].into_iter().any(is_given)
        );
    }
}
