package io.github.tornadotransformers.runner.verify;

import io.github.tornadotransformers.models.checkpoint.NonFiniteTensor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Everything that one run of {@code verify} found.
 *
 * @param subject the model, or what was checked instead
 * @param promptIds what the engines ran; empty where none did
 * @param steps decoding steps; 0 where no model ran
 * @param runs how long each engine took
 * @param comparisons one per pair of engines, or engine and golden trace
 * @param kernels verdicts by engine
 * @param published outcomes by engine
 * @param brokenTensors of the checkpoint, looked for where a value was not finite
 * @param environment machine, JDK, TornadoVM, flags, in the order to show them
 */
public record VerifyResult(
        String subject,
        List<Integer> promptIds,
        int steps,
        List<EngineRun> runs,
        List<Comparison> comparisons,
        Map<String, List<KernelCheck.Verdict>> kernels,
        Map<String, List<PublishedFacts.Outcome>> published,
        List<NonFiniteTensor> brokenTensors,
        Map<String, String> environment) {
    /**
     * @param device where the engine ran, in words
     * @param forwardMillis of all steps, tracing included
     */
    public record EngineRun(String engine, String device, String dtype, double loadMillis, double forwardMillis) {}

    /** The same, where a value was not finite and the weights were looked at. */
    public VerifyResult withBroken(List<NonFiniteTensor> tensors) {
        return new VerifyResult(subject, promptIds, steps, runs, comparisons, kernels, published, tensors, environment);
    }

    /** Whether all agree, on values that mean something. */
    public boolean passes() {
        return agrees() && isFinite();
    }

    /** Whether every value that was compared is finite. */
    public boolean isFinite() {
        return comparisons.stream().noneMatch(Comparison::sawNonFinite)
                && outcomes().allMatch(outcome -> outcome.nonFinite().isEmpty());
    }

    /** What to say of the values that are not finite; nothing where there is none. */
    List<String> nonFiniteWords() {
        if (isFinite()) {
            return List.of();
        }
        if (!brokenTensors.isEmpty()) {
            return brokenTensors.stream()
                    .map(tensor -> "The weights are broken: " + tensor)
                    .toList();
        }
        Stream<String> values = Stream.concat(
                comparisons.stream()
                        .flatMap(each -> each.firstNonFinite().stream())
                        .map(value -> value + " on all engines"),
                outcomes().flatMap(outcome -> outcome.nonFinite().stream()));
        return values.limit(1)
                .map(value -> "Every weight is finite, but " + value + ".")
                .toList();
    }

    /** The verdict in a sentence. */
    String verdict() {
        if (!agrees()) {
            return "They do not agree.";
        }
        return isFinite() ? "All agree." : "All agree, but on values that are not finite.";
    }

    public boolean agrees() {
        return comparisons.stream().allMatch(Comparison::agrees)
                && kernels.values().stream().flatMap(List::stream).allMatch(KernelCheck.Verdict::agrees)
                && outcomes().allMatch(PublishedFacts.Outcome::holds);
    }

    private Stream<PublishedFacts.Outcome> outcomes() {
        return published.values().stream().flatMap(List::stream);
    }

    /** The kernels that any engine was checked for. */
    List<KernelCheck.Kernel> kernelRows() {
        return kernels.values().stream()
                .flatMap(List::stream)
                .map(KernelCheck.Verdict::kernel)
                .distinct()
                .toList();
    }

    Optional<KernelCheck.Verdict> verdict(String engine, KernelCheck.Kernel kernel) {
        return kernels.get(engine).stream()
                .filter(verdict -> verdict.kernel().equals(kernel))
                .findFirst();
    }
}
