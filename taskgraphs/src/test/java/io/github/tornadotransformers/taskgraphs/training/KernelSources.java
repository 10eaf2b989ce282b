package io.github.tornadotransformers.taskgraphs.training;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What TornadoVM generates for a driver's compiler, in OpenCL C, CUDA C or PTX: each float has a name, and is computed by one
 * instruction of names and constants.
 */
final class KernelSources {
    private static final Pattern KERNEL = Pattern.compile("(?:__kernel|__global__|\\.entry).*?(\\w+)\\(");
    private static final String FLOAT = "f_?\\d+";
    private static final Pattern ASSIGNMENT = Pattern.compile("\\s*(" + FLOAT + ")\\s*=\\s*(.*);");
    private static final Pattern PRODUCT = Pattern.compile("\\S+ \\* \\S+");
    private static final Pattern SUM = Pattern.compile("(\\S+) [+-] (\\S+)");
    private static final Pattern FUSED = Pattern.compile("fmaf?\\((.*), (.*), (.*)\\)");
    private static final Pattern PTX = Pattern.compile("\\s*(mul|add|sub|fma)(?:\\.\\w+)*\\.f32\\s+(\\w+), (.*);");

    private int fused;
    private final Set<String> products = new HashSet<>();
    private final List<String> unfused = new ArrayList<>();

    /** Reads a file of sources. */
    static KernelSources of(List<String> lines) {
        KernelSources sources = new KernelSources();
        String kernel = "";
        for (String line : lines) {
            Matcher begin = KERNEL.matcher(line);
            if (begin.find()) {
                kernel = begin.group(1);
                sources.products.clear();
            } else {
                sources.read(kernel, line);
            }
        }
        return sources;
    }

    /** How many products are fused into sums. */
    int fused() {
        return fused;
    }

    /** The sums that a product joins which is not fused, so that a compiler may fuse it or not. */
    List<String> unfused() {
        return unfused;
    }

    private void read(String kernel, String line) {
        Matcher assignment = ASSIGNMENT.matcher(line);
        Matcher ptx = PTX.matcher(line);
        if (assignment.matches()) {
            String expression = assignment.group(2).strip();
            Matcher sum = SUM.matcher(expression);
            Matcher fma = FUSED.matcher(expression);
            if (sum.matches()) {
                require(kernel, line, sum.group(1), sum.group(2));
            } else if (fma.matches()) {
                fused++;
                require(kernel, line, fma.group(3));
            }
            note(assignment.group(1), PRODUCT.matcher(expression).matches());
        } else if (ptx.matches()) {
            String[] operands = ptx.group(3).split(", ");
            switch (ptx.group(1)) {
                case "add", "sub" -> require(kernel, line, operands);
                case "fma" -> {
                    fused++;
                    require(kernel, line, operands[2]);
                }
                default -> {}
            }
            note(ptx.group(2), ptx.group(1).equals("mul"));
        }
    }

    private void note(String name, boolean isProduct) {
        if (isProduct) {
            products.add(name);
        } else {
            products.remove(name);
        }
    }

    private void require(String kernel, String line, String... terms) {
        for (String term : terms) {
            if (products.contains(term)) {
                unfused.add(kernel + ": " + line.strip());
            }
        }
    }
}
