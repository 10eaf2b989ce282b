/**
 * Every Op of a transformer as annotated loops over TornadoVM arrays, with the oracle's bits.
 *
 * <p><b>The parallel index.</b> A kernel has one {@code @Parallel} loop over one number, from which it takes its indices apart;
 * the fastest part is the one that is contiguous in memory. TornadoVM maps such a loop to dimension 0 of the grid on every
 * device and backend, so that neighbouring work items touch neighbouring elements. (Of nested parallel loops the innermost
 * becomes dimension 0 on a GPU, but the outermost on a CPU: {@code TornadoApiReplacement} in TornadoVM 5.2.) Divisors are
 * constants when a device compiles.
 *
 * <p><b>Groups.</b> A kernel that takes a {@code KernelContext} is written for one item of a group. What its items read of each other goes
 * through local memory, with a barrier in between that all come to. An array of constant size whose loops are unrolled is kept in
 * registers; no helper takes an array that is not TornadoVM's, which TornadoVM cannot inline.
 *
 * <p><b>The bound</b> of a parallel loop is an expression, never a bare parameter: where a grid is given, TornadoVM replaces a
 * bare parameter by the size of the grid, which is padded ({@code TornadoTaskSpecialisation}).
 *
 * <p><b>Scalars</b> are constants when a device compiles. What changes from call to call travels in arrays: see {@link
 * io.github.tornadotransformers.kernels.Step}; the layer of stacked weights and caches is in {@code layer[0]}.
 *
 * <p><b>Rows</b> are tokens. A graph compiled for several rows may get fewer: kernels leave the rows behind {@code
 * step[ROWS]} alone, so that padding never reaches a cache and costs nothing.
 *
 * <p><b>Order.</b> What is summed, and how, is the contract's: products are fused into the sums they join
 * ({@link io.github.tornadotransformers.kernels.Fused}), long sums are sliced ({@link
 * io.github.tornadotransformers.kernels.Slices}), quotients and roots are taken in double and narrowed. In strict mode
 * ({@link io.github.tornadotransformers.kernels.KernelMath}) the error against the oracle is 0 ulp in every kernel.
 *
 * <p><b>Helpers</b> are static methods with a single return, which TornadoVM inlines.
 *
 * <p><b>Signs.</b> No int that can be negative is shifted, divided or compared with 0: PTX shifts signed ints as unsigned,
 * OpenCL, CUDA and Metal the other way round, and quotients and sign tests become shifts on the way. Bits are masked first ({@link
 * io.github.tornadotransformers.kernels.WeightFormat}); {@code SignedIntsTest} holds kernels to it.
 */
package io.github.tornadotransformers.kernels;
