package io.github.tornadotransformers.benchmarks;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelPresets;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.List;

/**
 * The most tokens a second that a machine allows a model: each test takes at least the time of reading its weights and cache,
 * and at least that of its arithmetic.
 *
 * @param fits whether weights and cache fit the machine's memory
 */
public record Prediction(
        String machine,
        String model,
        DType dtype,
        long weightBytes,
        boolean fits,
        double decodeTokensPerSecond,
        double prefillTokensPerSecond) {
    /** Decoding, as {@code bench} measures it unless told otherwise. */
    public static final BenchTest DECODE = new BenchTest(BenchTest.Phase.DECODE, 128, 0);

    /** Prefill, as {@code bench} measures it unless told otherwise. */
    public static final BenchTest PREFILL = new BenchTest(BenchTest.Phase.PREFILL, 512, 0);

    /** Models to plan with. */
    public static final List<String> MODELS = List.of("gpt2-124M", "tinyllama-1.1B", "llama2-7B", "llama2-70B");

    /** Types to plan with. */
    public static final List<DType> DTYPES = List.of(DType.F32, DType.BF16, DType.INT8);

    /** Every model in every type on every machine. */
    public static List<Prediction> all(List<Machine> machines) {
        List<Prediction> predictions = new ArrayList<>();
        for (Machine machine : machines) {
            for (String model : MODELS) {
                ModelConfig config = ModelPresets.named(model).orElseThrow();
                DTYPES.forEach(dtype -> predictions.add(of(machine, model, config, dtype)));
            }
        }
        return predictions;
    }

    static Prediction of(Machine machine, String model, ModelConfig config, DType dtype) {
        Program program = config.program(PREFILL.positions());
        long weights = ProgramCost.modelBytes(program, MatrixBytes.of(dtype));
        return new Prediction(
                machine.name(),
                model,
                dtype,
                weights,
                weights + program.cacheBytes() <= machine.memoryBytes(),
                rate(machine.limits(), DECODE, program, dtype),
                rate(machine.limits(), PREFILL, program, dtype));
    }

    private static double rate(Limits limits, BenchTest test, Program program, DType dtype) {
        ProgramCost cost = test.cost(program, MatrixBytes.of(dtype));
        return test.tokens() / limits.seconds(cost.bytes(), cost.operations());
    }
}
