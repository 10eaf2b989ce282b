package io.github.tornadotransformers.taskgraphs.training;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What TornadoVM generates for a driver's compiler, in OpenCL C, CUDA C or PTX: each float has a name, and is computed by one
 * instruction of names and constants, or where paths meet by one on each path. A name is a product if it is one on any path, or a
 * copy, a choice or the negative of a product: a compiler may move the sum to that path.
 */
final class KernelSources {
    private static final Pattern KERNEL = Pattern.compile("(?:__kernel|__global__|\\.entry).*?(\\w+)\\(");
    private static final String FLOAT = "f_?\\d+";
    private static final Pattern NAME = Pattern.compile("\\b" + FLOAT + "\\b");
    private static final Pattern ASSIGNMENT = Pattern.compile("\\s*(" + FLOAT + ")\\s*=\\s*(.*);");
    private static final Pattern PRODUCT = Pattern.compile("\\S+ \\* \\S+");
    private static final Pattern SUM = Pattern.compile("(\\S+) [+-] (\\S+)");
    private static final Pattern FUSED = Pattern.compile("fmaf?\\((.*), (.*), (.*)\\)");
    private static final Pattern PASSED_ON = Pattern.compile("-? ?" + FLOAT + "|.*\\?.*:.*");
    private static final Pattern PTX =
            Pattern.compile("\\s*(mul|add|sub|fma|mad|mov|neg|selp)(?:\\.\\w+)*\\.f32\\s+(\\w+), (.*);");

    private int fused;
    private final List<String> unfused = new ArrayList<>();

    /** Of the kernel that is read. */
    private final Set<String> products = new HashSet<>();

    private final Map<String, Set<String>> passedOn = new HashMap<>();
    private final Map<String, List<String>> terms = new LinkedHashMap<>();

    /** Reads a file of sources. */
    static KernelSources of(List<String> lines) {
        KernelSources sources = new KernelSources();
        String kernel = "";
        for (String line : lines) {
            Matcher begin = KERNEL.matcher(line);
            if (begin.find()) {
                sources.end(kernel);
                kernel = begin.group(1);
            } else {
                sources.read(line);
            }
        }
        sources.end(kernel);
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

    private void read(String line) {
        Matcher assignment = ASSIGNMENT.matcher(line);
        Matcher ptx = PTX.matcher(line);
        if (assignment.matches()) {
            readC(line.strip(), assignment.group(1), assignment.group(2).strip());
        } else if (ptx.matches()) {
            List<String> operands = List.of(ptx.group(3).split(", "));
            switch (ptx.group(1)) {
                case "add", "sub" -> terms.put(line.strip(), operands);
                case "fma", "mad" -> {
                    fused++;
                    terms.put(line.strip(), operands.subList(2, 3));
                }
                case "mul" -> products.add(ptx.group(2));
                default -> passOn(ptx.group(2), ptx.group(3));
            }
        }
    }

    private void readC(String line, String name, String expression) {
        Matcher sum = SUM.matcher(expression);
        Matcher fma = FUSED.matcher(expression);
        if (sum.matches()) {
            terms.put(line, List.of(sum.group(1), sum.group(2)));
        } else if (fma.matches()) {
            fused++;
            terms.put(line, List.of(fma.group(3)));
        } else if (PRODUCT.matcher(expression).matches()) {
            products.add(name);
        } else if (PASSED_ON.matcher(expression).matches()) {
            passOn(name, expression);
        }
    }

    private void passOn(String name, String expression) {
        NAME.matcher(expression)
                .results()
                .forEach(found -> passedOn.computeIfAbsent(found.group(), _ -> new HashSet<>())
                        .add(name));
    }

    private void end(String kernel) {
        List<String> open = new ArrayList<>(products);
        while (!open.isEmpty()) {
            for (String next : passedOn.getOrDefault(open.removeLast(), Set.of())) {
                if (products.add(next)) {
                    open.add(next);
                }
            }
        }
        terms.forEach((line, names) -> {
            if (names.stream().anyMatch(products::contains)) {
                unfused.add(kernel + ": " + line);
            }
        });
        products.clear();
        passedOn.clear();
        terms.clear();
    }
}
