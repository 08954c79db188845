import assert from "node:assert/strict";
import { test } from "node:test";
import { shortName } from "../../../wasm/web/base/names";

const cases: [string, string][] = [
  ["aten::mm", "aten::mm"],
  ["ProfilerStep#3", "ProfilerStep#3"],
  ["void at::native::vectorized_elementwise_kernel<4, at::Add<float>>(int, float)", "vectorized_elementwise_kernel"],
  ["void at::native::(anonymous namespace)::softmax_warp_forward<float>(float*)", "softmax_warp_forward"],
  ["ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"],
  ["sm90_xmma_gemm_f32f32", "sm90_xmma_gemm_f32f32"],
  ["Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH (Device -> Pageable)"],
  ["torch/nn/modules/linear.py(124): forward", "forward · linear.py(124)"],
  ["<built-in method run_backward of torch._C._Engine object at 0x7f>", "run_backward · built-in"],
  ["<built-in function linear>", "linear · built-in"],
  ["nn.Module: Linear_3", "Linear_3 · nn.Module"],
  ["</script><script>alert(1)</script>", "</script><script>alert(1)</script>"],
  ["", ""],
];

for (const [name, short] of cases) test(`${name || "an empty name"}`, () => assert.equal(shortName(name), short));
