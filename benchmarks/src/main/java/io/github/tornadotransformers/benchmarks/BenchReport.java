package io.github.tornadotransformers.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * What one run of {@code bench} has found.
 *
 * @param environment machine, JDK, flags, in the order to show them
 * @param limits of the machine, for each number of threads
 * @param rows models, Ops, or the Ops of models
 * @param predictions by the machine's limits
 */
public record BenchReport(
        Map<String, String> environment,
        List<Limits> limits,
        List<? extends BenchRow> rows,
        List<Prediction> predictions) {
    List<ModelRow> models() {
        return rows.stream()
                .filter(ModelRow.class::isInstance)
                .map(ModelRow.class::cast)
                .toList();
    }

    List<ProfileRow> profile() {
        return rows.stream()
                .filter(ProfileRow.class::isInstance)
                .map(ProfileRow.class::cast)
                .toList();
    }

    List<KernelRow> kernels() {
        return rows.stream()
                .filter(KernelRow.class::isInstance)
                .map(KernelRow.class::cast)
                .toList();
    }
}
