//! Labels: the distinctive part of a name, for bars and rows with little room.

mod address;
mod mangled;
mod signature;
mod words;

pub use address::without_addresses;
use std::borrow::Cow;
use std::fmt;

/// The path of a mangled C++ name, as in its source; `None` for other names.
///
/// ```
/// use kinetoscope::label::mangled_path;
/// assert_eq!(mangled_path("_ZN7deep_ep9intranode8dispatchILi8EEEvPf").as_deref(), Some("deep_ep::intranode::dispatch"));
/// assert_eq!(mangled_path("gemm"), None);
/// ```
pub fn mangled_path(name: &str) -> Option<String> {
    mangled::path(name)
}

/// The distinctive part of a name, and its location.
///
/// ```
/// use kinetoscope::label::Label;
/// let label = |name| Label::of(name).to_string();
/// assert_eq!(label("torch/nn/modules/linear.py(124): forward"), "forward · linear.py(124)");
/// assert_eq!(label("void at::native::softmax_warp_forward<float, 8>(float*, int)"), "softmax_warp_forward");
/// assert_eq!(
///     label("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, A>(int)"),
///     "CUDAFunctor_add · vectorized_elementwise_kernel"
/// );
/// assert_eq!(label("aten::mm"), "aten::mm");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label<'a> {
    /// The operation of a kernel, the function of a frame; most names as a whole.
    pub telling: Cow<'a, str>,
    /// The location: the file of a function, the kernel around an operation. Empty for most names.
    pub place: Cow<'a, str>,
}

impl<'a> Label<'a> {
    /// The label of a name, which is the name itself where all of it tells something.
    pub fn of(name: &'a str) -> Self {
        frame(name)
            .or_else(|| builtin(name))
            .or_else(|| backward(name))
            .or_else(|| signature::label(name))
            .or_else(|| mangled::label(name))
            .filter(|label| !label.telling.trim().is_empty())
            .unwrap_or(Self { telling: Cow::Borrowed(name), place: Cow::Borrowed("") })
    }

    /// The longest form of a name that fits: all of it, a kernel with arguments, the label, or the
    /// distinctive part alone.
    pub fn fitting(name: &'a str, fits: impl Fn(&str) -> bool) -> Cow<'a, str> {
        if fits(name) {
            return Cow::Borrowed(name);
        }
        if let Some(plain) = signature::plain(name).filter(|plain| fits(plain)) {
            return Cow::Owned(plain);
        }
        let label = Self::of(name);
        let whole = label.to_string();
        if fits(&whole) { Cow::Owned(whole) } else { label.telling }
    }

    fn at(telling: impl Into<Cow<'a, str>>, place: impl Into<Cow<'a, str>>) -> Self {
        Self { telling: telling.into(), place: place.into() }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.telling)?;
        if self.place.is_empty() { Ok(()) } else { write!(out, " · {}", self.place) }
    }
}

/// `torch/nn/modules/linear.py(124): forward`, `nn.Module: Linear_3`
fn frame(name: &str) -> Option<Label<'_>> {
    if let Some(module) = name.strip_prefix("nn.Module: ") {
        return Some(Label::at(module, "nn.Module"));
    }
    let (path, rest) = name.split_once(".py(")?;
    let (line, function) = rest.split_once("): ").filter(|(line, _)| is_number(line))?;
    // Empty for a whole stack, and for its containers.
    if path.contains(['"', ';', '\n']) || function.contains(".py(") {
        return None;
    }
    let file = path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    Some(Label::at(function, &name[file..path.len() + ".py()".len() + line.len()]))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `<built-in method run_backward of torch._C._EngineBase object at 0x7f>`, `<built-in function
/// linear>`
fn builtin(name: &str) -> Option<Label<'_>> {
    let inside = name.strip_prefix("<built-in ")?.strip_suffix('>')?;
    let called = inside.strip_prefix("method ").or_else(|| inside.strip_prefix("function "))?;
    Some(Label::at(called.split(' ').next()?, "built-in"))
}

/// `autograd::engine::evaluate_function: MmBackward0`
fn backward(name: &str) -> Option<Label<'_>> {
    Some(Label::at(name.strip_prefix("autograd::engine::evaluate_function: ")?, "evaluate_function"))
}

#[cfg(test)]
mod tests {
    use super::Label;

    #[test]
    fn the_telling_part_of_a_name() {
        for (name, telling) in [
            ("torch/nn/modules/linear.py(124): forward", "forward · linear.py(124)"),
            (r"C:\site\model.py(7): <lambda>", "<lambda> · model.py(7)"),
            ("a.py(b): c", "a.py(b): c"),
            ("a.py(1): b;c.py(2): d", "a.py(1): b;c.py(2): d"),
            (r#"{"stack": "a.py(1): b"}"#, r#"{"stack": "a.py(1): b"}"#),
            ("nn.Module: Linear_3", "Linear_3 · nn.Module"),
            ("<built-in method run_backward of torch._C._Engine object at 0x7f>", "run_backward · built-in"),
            ("<built-in function linear>", "linear · built-in"),
            ("autograd::engine::evaluate_function: MmBackward0", "MmBackward0 · evaluate_function"),
            ("aten::mm", "aten::mm"),
            ("ProfilerStep#3", "ProfilerStep#3"),
            ("", ""),
        ] {
            assert_eq!(Label::of(name).to_string(), telling);
        }
    }

    #[test]
    fn what_is_no_signature_stays_whole() {
        for name in [
            "Memcpy HtoD (Pageable -> Device)",
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            "forward (MyModel)",
            "layer(3)",
            "Torch-Compiled Region: 0/0",
            "## Call CompiledFxGraph fx <key> ##",
            "</script><script>alert(1)</script>",
            "<<<",
            "sm90_xmma_gemm_f32f32",
            "a < b",
            "x<",
            "(",
            "_Z",
            "_ZN",
            "_ZN9",
            "_ZN99999999999999999999999a",
            "größe(",
            "nn.Module: ",
            "a.py(3): ",
            "mymodel::forward(batch=3)",
            "epoch<1>",
            "epoch<1>::step<2>",
            "train(batch<10)",
            "loss(a*b)",
            "step(x::y)",
            "Iteration(1)::forward",
            "void function",
            "at::native::operator()<int>(x)",
        ] {
            assert_eq!(Label::of(name).to_string(), name);
        }
    }

    #[test]
    fn kernels_are_told_by_what_they_compute() {
        for (name, telling) in [
            ("void at::native::(anonymous namespace)::cat<float>(x)", "cat"),
            ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"),
            ("rms_norm(float*, int) [clone .kd]", "rms_norm"),
            ("void cutlass::Kernel2<cutlass_80_gemm>(cutlass_80_gemm::Params)", "cutlass_80_gemm · Kernel2"),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, \
                 c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, float)",
                "MulFunctor · vectorized_elementwise_kernel",
            ),
            (
                "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::\
                 direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() \
                 const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int, int)",
                "direct_copy_kernel_cuda · elementwise_kernel",
            ),
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, \
                 at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, \
                 unsigned int, float, 4> >(at::native::ReduceOp<float>)",
                "sum_functor · reduce_kernel",
            ),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::\
                 TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 2, 1, 1>, \
                 std::multiplies<float>, float>(float)",
                "BinaryOpScalarFunctor, multiplies · multi_tensor_apply_kernel",
            ),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, 1>(cublasGemvParamsEx<int>)",
                "gemvx · kernel",
            ),
            (
                "void at::native::index_elementwise_kernel<128, 4, void at::native::gpu_index_kernel<void at::native::\
                 index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&)::{lambda(char*)#1}>(int)::{lambda(int)#1}>(long)",
                "index_kernel_impl · index_elementwise_kernel",
            ),
            ("void at::native::elementwise_kernel<128, 4, float>(int)", "elementwise_kernel"),
            ("void at::native::foo_kernel<4, a<b", "foo_kernel"),
            ("void ns::größe<int>(x)", "größe"),
            ("void at::native::<unnamed>::layer_norm<float, float>(int)", "layer_norm"),
            ("void <unnamed>::softmax<float>(int)", "softmax"),
            ("torch::autograd::CppNode<Lookup_Op>", "Lookup_Op · CppNode"),
            (
                "at::native::xpu::VectorizedElementwiseKernel<4, at::native::xpu::MulFunctor<float> >",
                "MulFunctor · VectorizedElementwiseKernel",
            ),
            (
                "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> > >(int)",
                "FlashAttnFwdSm90 · device_kernel",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, __nv_hdl_wrapper_t<false, true, __nv_dl_tag<void (*)(at::\
                 TensorIteratorBase&), &at::native::abs_kernel_cuda, 1u>, float (float)>, std::array<char*, 2ul> >(int)",
                "abs_kernel_cuda · vectorized_elementwise_kernel",
            ),
            ("void xmma_new::fprop::kernel<xmma_new::fprop::Kernel_traits<int> >(int)", "fprop · kernel"),
        ] {
            assert_eq!(Label::of(name).to_string(), telling);
        }
    }

    #[test]
    fn what_fits_of_a_kernel_is_told_with_what_it_is_given() {
        let name = "void at::native::(anonymous namespace)::softmax_warp_forward<float, c10::Half, at::native::(anonymous namespace)::A<8> >(float*)";
        let most = |most: usize| Label::fitting(name, move |text| text.len() <= most);
        assert_eq!(most(200), name);
        assert_eq!(most(60), "softmax_warp_forward<float, Half, A<8>>");
        assert_eq!([most(30), most(5)], ["softmax_warp_forward"; 2]);
        assert_eq!(Label::fitting("void ns::sum<€std::A>(x)", |text| text.len() < 20), "sum<€A>");
    }

    #[test]
    fn mangled_names_are_told_by_their_last_part() {
        for (name, telling) in [
            ("_ZN2ck16tensor_operation6device12_GLOBAL__N_111kernel_gemmINS_4GemmEEEvi", "kernel_gemm"),
            ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_1AEEEEEvT0_", "Rmsnorm2dFwd · kentry"),
            ("_Z10rms_kernelPfi", "rms_kernel"),
            (
                "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_7MeanOpsIfEEEEEEvT1_",
                "MeanOps · reduce_kernel",
            ),
            ("_ZTSN2at6native3xpu9SumKernelIfEE", "SumKernel"),
        ] {
            assert_eq!(Label::of(name).to_string(), telling);
        }
    }
}
