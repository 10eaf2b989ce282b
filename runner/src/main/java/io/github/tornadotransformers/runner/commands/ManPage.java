package io.github.tornadotransformers.runner.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * A manual page of all commands, as {@code man} reads it.
 *
 * <p>Source: man(7) of Linux man-pages.
 */
final class ManPage {
    private final List<String> lines = new ArrayList<>();

    private ManPage() {}

    /** @param version of the program, for the foot of the page */
    static String of(CommandLine program, String version) {
        ManPage page = new ManPage();
        CommandSpec spec = program.getCommandSpec();
        page.lines.add(".TH " + spec.name().toUpperCase(Locale.ROOT) + " 1 \"\" \"" + version + "\"");
        page.lines.add(".SH NAME");
        page.lines.add(spec.name() + " \\- "
                + text(String.join(" ", spec.usageMessage().description())));
        page.lines.add(".SH SYNOPSIS");
        page.lines.add(".B " + spec.name());
        page.lines.add(".I COMMAND");
        page.lines.add("[options]");
        page.lines.add(".SH OPTIONS");
        page.options(spec);
        page.lines.add(".SH COMMANDS");
        program.getSubcommands().values().forEach(page::command);
        page.lines.add(".SH EXIT STATUS");
        page.paragraphs(spec.usageMessage().footer());
        return String.join("\n", page.lines) + "\n";
    }

    private void command(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        if (spec.usageMessage().hidden()) {
            return;
        }
        lines.add(".SS \"" + text(spec.qualifiedName()) + "\"");
        paragraphs(spec.usageMessage().description());
        spec.positionalParameters().forEach(this::positional);
        options(spec);
        command.getSubcommands().values().forEach(this::command);
    }

    private void positional(PositionalParamSpec parameter) {
        if (!parameter.hidden()) {
            item("\\fI" + text(parameter.paramLabel()) + "\\fR", parameter.description());
        }
    }

    private void options(CommandSpec spec) {
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                String names = Stream.of(option.names())
                        .map(name -> "\\fB" + text(name) + "\\fR")
                        .collect(Collectors.joining(", "));
                String value = option.arity().max() == 0 ? "" : " \\fI" + text(option.paramLabel()) + "\\fR";
                item(names + value, option.description());
            }
        }
    }

    private void item(String term, String... description) {
        lines.add(".TP");
        lines.add(term);
        paragraphs(description);
    }

    /** An empty line ends a paragraph. */
    private void paragraphs(String... description) {
        for (String line : description) {
            lines.add(line.isEmpty() ? ".PP" : line(line));
        }
    }

    /** A line of text: what would be a request at its begin is none. */
    private static String line(String line) {
        String escaped = text(line);
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }

    private static String text(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("%n", " ").replace("%%", "%");
    }
}
