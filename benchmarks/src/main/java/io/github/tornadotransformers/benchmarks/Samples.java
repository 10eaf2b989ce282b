package io.github.tornadotransformers.benchmarks;

import java.util.DoubleSummaryStatistics;
import java.util.List;

/** Repeated measurements of one quantity. */
public record Samples(List<Double> values) {
    public Samples {
        values = List.copyOf(values);
        if (values.isEmpty()) {
            throw new IllegalArgumentException("there is no measurement");
        }
    }

    private DoubleSummaryStatistics statistics() {
        return values.stream().mapToDouble(Double::doubleValue).summaryStatistics();
    }

    public double mean() {
        return statistics().getAverage();
    }

    public double min() {
        return statistics().getMin();
    }

    public double max() {
        return statistics().getMax();
    }

    /** Of the sample (divided by n - 1); 0 for a single measurement. */
    public double deviation() {
        double mean = mean();
        double squares = values.stream()
                .mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        return values.size() == 1 ? 0 : Math.sqrt(squares / (values.size() - 1));
    }
}
