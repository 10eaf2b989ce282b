package io.github.tornadotransformers.models.jinja;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** {@code value | name(arguments)}. */
final class Filters {
    private static final Set<String> NAMES = Set.of(
            "abs",
            "attr",
            "batch",
            "capitalize",
            "center",
            "count",
            "d",
            "default",
            "dictsort",
            "e",
            "escape",
            "first",
            "float",
            "forceescape",
            "format",
            "groupby",
            "indent",
            "int",
            "items",
            "join",
            "last",
            "length",
            "list",
            "lower",
            "map",
            "max",
            "min",
            "reject",
            "rejectattr",
            "replace",
            "reverse",
            "round",
            "safe",
            "select",
            "selectattr",
            "slice",
            "sort",
            "string",
            "sum",
            "title",
            "tojson",
            "trim",
            "truncate",
            "unique",
            "upper",
            "wordcount");

    private final Members members;
    private final Budget budget;

    Filters(Members members, Budget budget) {
        this.members = members;
        this.budget = budget;
    }

    /** The name, if there is such a filter. */
    static String known(String name, int line) {
        if (!NAMES.contains(name)) {
            throw TemplateException.atLine(line, "the filter '" + name + "' is not known");
        }
        return name;
    }

    Object apply(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "default", "d" -> {
                boolean replaced =
                        value instanceof Undefined || (arguments.truth(1, "boolean", false) && !Values.truth(value));
                yield replaced ? arguments.get(0, "default_value", "") : value;
            }
            case "tojson" -> json(value, arguments);
            case "length", "count" -> length(value);
            case "list" -> Values.elements(value);
            case "string" -> Values.text(value);
            case "safe" -> new Markup(Values.text(value));
            case "int" -> integer(value, arguments);
            case "float" -> floating(value, arguments);
            case "abs" ->
                value instanceof Double number ? (Object) Math.abs(number) : Math.absExact(Values.integer(value));
            case "round" -> round(value, arguments);
            case "attr" -> members.attribute(value, arguments.text(0, "name", ""));
            case "items" -> items(value);
            default -> text(name, value, arguments);
        };
    }

    private Object text(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "trim" -> Strings.strip(Values.text(value), arguments.text(0, "chars", null), true, true);
            case "lower" -> Values.text(value).toLowerCase(Locale.ROOT);
            case "upper" -> Values.text(value).toUpperCase(Locale.ROOT);
            case "capitalize" -> Strings.capitalize(Values.text(value));
            case "title" -> title(Values.text(value));
            case "center" -> Formats.center(Values.text(value), arguments.integer(0, "width", 80), ' ');
            case "replace" ->
                members.replace(
                        Values.text(value),
                        Values.text(arguments.require(0, "old")),
                        Values.text(arguments.require(1, "new")),
                        arguments.get(2, "count", null) == null ? -1 : arguments.integer(2, "count", -1));
            case "indent" -> indent(Values.text(value), arguments);
            case "truncate" -> truncate(Values.text(value), arguments);
            case "wordcount" ->
                (long) Strings.split(Values.text(value), null, -1).size();
            case "escape", "e" -> Markup.escaped(value);
            case "forceescape" -> Markup.escaped(Values.text(value));
            case "format" ->
                Formats.percent(
                        Values.text(value),
                        arguments.named().isEmpty()
                                ? new Tuple(arguments.positional())
                                : new LinkedHashMap<Object, Object>(arguments.named()));
            default -> several(name, value, arguments);
        };
    }

    private Object several(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "join" -> join(value, arguments);
            case "first" -> {
                List<Object> all = Values.elements(value);
                yield all.isEmpty() ? new Undefined("there is no first item") : all.getFirst();
            }
            case "last" -> {
                List<Object> all = Values.elements(value);
                yield all.isEmpty() ? new Undefined("there is no last item") : all.getLast();
            }
            case "reverse" ->
                Markup.plain(value) instanceof String text
                        ? new StringBuilder(text).reverse().toString()
                        : new Generated(Members.reversed(value));
            case "map" -> new Generated(map(value, arguments));
            case "select" -> new Generated(selected(value, arguments, 0, UnaryOperator.identity(), true));
            case "reject" -> new Generated(selected(value, arguments, 0, UnaryOperator.identity(), false));
            case "selectattr" -> new Generated(byAttribute(value, arguments, true));
            case "rejectattr" -> new Generated(byAttribute(value, arguments, false));
            case "sort" -> sorted(value, arguments);
            case "dictsort" -> dictSorted(value, arguments);
            case "unique" -> new Generated(unique(value, arguments));
            case "max", "min" -> extreme(value, arguments, name.equals("max"));
            case "sum" -> sum(value, arguments);
            case "batch" -> batch(value, arguments);
            case "slice" -> slices(value, arguments);
            case "groupby" -> grouped(value, arguments);
            default -> throw new IllegalStateException(name);
        };
    }

    private String json(Object value, Arguments arguments) {
        String text = Json.of(arguments).text(value);
        budget.make(text.length());
        return text;
    }

    private static Object length(Object value) {
        return switch (value) {
            case String text -> (long) Strings.length(text);
            case Markup markup -> (long) Strings.length(markup.text());
            case List<?> list -> (long) list.size();
            case Map<?, ?> map -> (long) map.size();
            case Undefined _ -> 0L;
            case null, default -> throw new TemplateException(Values.typeName(value) + " has no length");
        };
    }

    private static Object integer(Object value, Arguments arguments) {
        Object byDefault = arguments.get(0, "default", 0L);
        try {
            return switch (value) {
                case Double number when Double.isFinite(number) && Math.abs(number) < 0x1p63 -> number.longValue();
                case String text -> {
                    String digits = text.strip().replace("_", "");
                    int base = arguments.integer(1, "base", 10);
                    yield digits.contains(".") ? (long) Double.parseDouble(digits) : Long.parseLong(digits, base);
                }
                case Long number -> number;
                case Boolean is -> is ? 1L : 0L;
                case null, default -> byDefault;
            };
        } catch (NumberFormatException e) {
            return byDefault;
        }
    }

    private static Object floating(Object value, Arguments arguments) {
        try {
            return switch (value) {
                case String text -> Double.valueOf(text.strip());
                case Number number -> number.doubleValue();
                case Boolean is -> is ? 1.0 : 0.0;
                case null, default -> arguments.get(0, "default", 0.0);
            };
        } catch (NumberFormatException e) {
            return arguments.get(0, "default", 0.0);
        }
    }

    /** Always a float. */
    private static Object round(Object value, Arguments arguments) {
        int digits = Math.clamp(arguments.integer(0, "precision", 0), -300, 300);
        double number = Values.number(value);
        RoundingMode mode = switch (arguments.text(1, "method", "common")) {
            case "common" -> RoundingMode.HALF_EVEN;
            case "ceil" -> RoundingMode.CEILING;
            case "floor" -> RoundingMode.FLOOR;
            default -> throw new TemplateException("round has the methods common, ceil and floor");
        };
        return Double.isFinite(number)
                ? (Object) new BigDecimal(number).setScale(digits, mode).doubleValue()
                : (Object) number;
    }

    private static Object items(Object value) {
        if (value instanceof Undefined) {
            return new Generated(List.of());
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw new TemplateException(Values.typeName(value) + " has no items");
        }
        return new Generated(map.entrySet().stream()
                .map(entry -> (Object) Tuple.of(entry.getKey(), entry.getValue()))
                .toList());
    }

    /** Words begin after white space, hyphens and opening brackets. */
    private static String title(String text) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int c : text.codePoints().toArray()) {
            out.appendCodePoint(inWord ? Character.toLowerCase(c) : Character.toUpperCase(c));
            inWord = !Lexer.isSpace(c) && "-({[<".indexOf(c) < 0;
        }
        return out.toString();
    }

    private String indent(String text, Arguments arguments) {
        Object width = arguments.get(0, "width", 4L);
        String space = width instanceof String given ? given : Formats.pad("", Values.index(width), '<', ' ');
        boolean first = arguments.truth(1, "first", false);
        boolean blank = arguments.truth(2, "blank", false);
        StringBuilder out = new StringBuilder();
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            boolean indented = i == 0 ? first : blank || !lines[i].isEmpty();
            budget.make(space.length() + lines[i].length());
            out.append(i == 0 ? "" : "\n").append(indented ? space : "").append(lines[i]);
        }
        return out.toString();
    }

    private static String truncate(String text, Arguments arguments) {
        int length = Math.max(0, arguments.integer(0, "length", 255));
        String end = arguments.text(2, "end", "...");
        int leeway = arguments.get(3, "leeway", null) == null ? 5 : arguments.integer(3, "leeway", 5);
        if (Strings.length(text) <= (long) length + leeway) {
            return text;
        }
        String cut = text.substring(0, text.offsetByCodePoints(0, Math.max(0, length - Strings.length(end))));
        int space = cut.lastIndexOf(' ');
        return (arguments.truth(1, "killwords", false) || space < 0 ? cut : cut.substring(0, space)) + end;
    }

    private String join(Object value, Arguments arguments) {
        String separator = arguments.text(0, "d", "");
        Object attribute = arguments.get(1, "attribute", null);
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object element : Values.elements(value)) {
            String part =
                    Values.text(attribute == null ? element : byPath(attribute).apply(element));
            budget.make(separator.length() + part.length());
            out.append(first ? "" : separator).append(part);
            first = false;
        }
        return out.toString();
    }

    /** An attribute's path ({@code "a.b.0"}), or an index. */
    private UnaryOperator<Object> byPath(Object path) {
        return path instanceof String names
                ? object -> members.path(object, names, null)
                : object -> members.item(object, path);
    }

    private List<Object> map(Object value, Arguments arguments) {
        List<Object> mapped = new ArrayList<>();
        if (!Values.truth(value)) {
            return mapped;
        }
        if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
            String attribute = arguments.text(Integer.MAX_VALUE, "attribute", "");
            Object byDefault = arguments.named().get("default");
            for (Object element : Values.elements(value)) {
                mapped.add(members.path(element, attribute, byDefault));
            }
            return mapped;
        }
        String filter = known(Values.string(arguments.require(0, "filter")));
        for (Object element : Values.elements(value)) {
            budget.step();
            mapped.add(apply(filter, element, arguments.from(1)));
        }
        return mapped;
    }

    private static String known(String name) {
        if (!NAMES.contains(name)) {
            throw new TemplateException("the filter '" + name + "' is not known");
        }
        return name;
    }

    private List<Object> byAttribute(Object value, Arguments arguments, boolean wanted) {
        return selected(value, arguments, 1, byPath(arguments.require(0, "attribute")), wanted);
    }

    /** @param test where the test's name is among the arguments; without one, it is truth */
    private List<Object> selected(
            Object value, Arguments arguments, int test, UnaryOperator<Object> key, boolean wanted) {
        Predicate<Object> holds;
        if (arguments.positional().size() > test) {
            String name = Values.string(arguments.positional().get(test));
            holds = element -> Tests.holds(Tests.known(name, 0), element, arguments.from(test + 1));
        } else {
            holds = Values::truth;
        }
        List<Object> selected = new ArrayList<>();
        for (Object element : Values.truth(value) ? Values.elements(value) : List.of()) {
            budget.step();
            if (holds.test(key.apply(element)) == wanted) {
                selected.add(element);
            }
        }
        return selected;
    }

    private static Object folded(Object value, boolean caseSensitive) {
        return value instanceof String text && !caseSensitive ? text.toLowerCase(Locale.ROOT) : value;
    }

    private Comparator<Object> order(Object attribute, boolean caseSensitive) {
        if (attribute == null) {
            return order(UnaryOperator.identity(), caseSensitive);
        }
        if (!(attribute instanceof String paths)) {
            return order(byPath(attribute), caseSensitive);
        }
        return Stream.of(paths.split(",", -1))
                .map(path -> order(byPath(path), caseSensitive))
                .reduce(Comparator::thenComparing)
                .orElseThrow();
    }

    private static Comparator<Object> order(UnaryOperator<Object> key, boolean caseSensitive) {
        return (a, b) -> {
            Object left = folded(key.apply(a), caseSensitive);
            Object right = folded(key.apply(b), caseSensitive);
            return Values.equal(left, right) ? 0 : Values.compare(left, right);
        };
    }

    private List<Object> sorted(Object value, Arguments arguments) {
        List<Object> all = new ArrayList<>(Values.elements(value));
        Comparator<Object> order =
                order(arguments.get(2, "attribute", null), arguments.truth(1, "case_sensitive", false));
        all.sort(arguments.truth(0, "reverse", false) ? order.reversed() : order);
        return all;
    }

    private Object dictSorted(Object value, Arguments arguments) {
        long by = arguments.text(1, "by", "key").equals("value") ? 1 : 0;
        List<Object> all = new ArrayList<>(((Generated) items(value)).elements());
        Comparator<Object> order = order(by, arguments.truth(0, "case_sensitive", false));
        all.sort(arguments.truth(2, "reverse", false) ? order.reversed() : order);
        return all;
    }

    private List<Object> unique(Object value, Arguments arguments) {
        boolean caseSensitive = arguments.truth(0, "case_sensitive", false);
        Object attribute = arguments.get(1, "attribute", null);
        List<Object> seen = new ArrayList<>();
        List<Object> unique = new ArrayList<>();
        for (Object element : Values.elements(value)) {
            Object key = folded(attribute == null ? element : byPath(attribute).apply(element), caseSensitive);
            budget.make(seen.size());
            if (seen.stream().noneMatch(each -> Values.equal(each, key))) {
                seen.add(key);
                unique.add(element);
            }
        }
        return unique;
    }

    private Object extreme(Object value, Arguments arguments, boolean largest) {
        Comparator<Object> order =
                order(arguments.get(1, "attribute", null), arguments.truth(0, "case_sensitive", false));
        Object found = new Undefined("there is no item");
        for (Object element : Values.elements(value)) {
            boolean better = found instanceof Undefined
                    || (largest ? order.compare(element, found) > 0 : order.compare(element, found) < 0);
            found = better ? element : found;
        }
        return found;
    }

    private Object sum(Object value, Arguments arguments) {
        Object attribute = arguments.get(0, "attribute", null);
        Object sum = arguments.get(1, "start", 0L);
        for (Object element : Values.elements(value)) {
            sum = Arithmetic.apply(
                    "+", sum, attribute == null ? element : byPath(attribute).apply(element), budget);
        }
        return sum;
    }

    private static List<Object> batch(Object value, Arguments arguments) {
        int size = Math.max(1, arguments.integer(0, "linecount", 1));
        List<Object> all = Values.elements(value);
        List<Object> batches = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            List<Object> batch = new ArrayList<>(all.subList(from, Math.min(all.size(), from + size)));
            while (arguments.get(1, "fill_with", null) != null && batch.size() < Math.min(size, 100_000)) {
                batch.add(arguments.get(1, "fill_with", null));
            }
            batches.add(batch);
        }
        return batches;
    }

    /** So many columns, the first ones longer by one where it does not come out even. */
    private static List<Object> slices(Object value, Arguments arguments) {
        int count = Math.clamp(arguments.integer(0, "slices", 1), 1, 100_000);
        List<Object> all = Values.elements(value);
        List<Object> slices = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < count; i++) {
            boolean longer = i < all.size() % count;
            int to = from + all.size() / count + (longer ? 1 : 0);
            List<Object> slice = new ArrayList<>(all.subList(from, to));
            if (arguments.get(1, "fill_with", null) != null && !longer) {
                slice.add(arguments.get(1, "fill_with", null));
            }
            slices.add(slice);
            from = to;
        }
        return slices;
    }

    private List<Object> grouped(Object value, Arguments arguments) {
        UnaryOperator<Object> key = byPath(arguments.require(0, "attribute"));
        List<Object> all = new ArrayList<>(Values.elements(value));
        all.sort((a, b) -> Values.compare(key.apply(a), key.apply(b)));
        List<Object> groups = new ArrayList<>();
        Object current = null;
        List<Object> group = List.of();
        for (Object element : all) {
            Object own = key.apply(element);
            if (groups.isEmpty() || !Values.equal(own, current)) {
                current = own;
                group = new ArrayList<>();
                groups.add(Tuple.of(own, group));
            }
            group.add(element);
        }
        return groups;
    }
}
