package io.github.tornadotransformers.models.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Attributes, items, slices and methods of values. What would change a list or a dict is refused, as in transformers' sandbox. */
final class Members {
    private static final Set<String> CHANGES = Set.of(
            "append",
            "extend",
            "insert",
            "pop",
            "remove",
            "clear",
            "sort",
            "reverse",
            "update",
            "popitem",
            "setdefault");

    private final Budget budget;

    Members(Budget budget) {
        this.budget = budget;
    }

    /** {@code object.name}: a method, else an item. */
    Object attribute(Object object, String name) {
        if (object instanceof Namespace namespace) {
            return namespace.fields().containsKey(name) ? namespace.fields().get(name) : Undefined.member(object, name);
        }
        Object own = own(Markup.plain(object), name);
        return own != null ? own : allowed(itemOrUndefined(object, name), name);
    }

    /** What Python's objects have between underscores, there is none of, and asking for it is no mistake. */
    private static Object allowed(Object member, String name) {
        if (member instanceof Undefined && name.startsWith("__")) {
            throw new TemplateException("'" + name + "' is not allowed");
        }
        return member;
    }

    /** {@code object[key]}: an item, else a method. */
    Object item(Object object, Object key) {
        Object item = itemOrUndefined(object, key);
        if (item instanceof Undefined && key instanceof String name) {
            Object own = own(Markup.plain(object), name);
            return own != null ? own : item;
        }
        return item;
    }

    private static Object itemOrUndefined(Object object, Object key) {
        Object missing = Undefined.member(object, key);
        return switch (Markup.plain(object)) {
            case Undefined undefined -> throw undefined.failure();
            case Map<?, ?> map -> map.containsKey(Values.key(key)) ? map.get(Values.key(key)) : missing;
            case List<?> list
            when Values.isInteger(key) -> {
                int index = position(key, list.size());
                yield index < 0 ? missing : list.get(index);
            }
            case String text
            when Values.isInteger(key) -> {
                int index = position(key, Strings.length(text));
                yield index < 0 ? missing : Character.toString(text.codePointAt(text.offsetByCodePoints(0, index)));
            }
            case null, default -> missing;
        };
    }

    /** From the end where it is negative; -1: there is none. */
    private static int position(Object key, int size) {
        long index = Values.integer(key);
        long position = index < 0 ? index + size : index;
        return position >= 0 && position < size ? (int) position : -1;
    }

    /** {@code given[from:to:step]}, each of which may be null. */
    Object slice(Object given, Object from, Object to, Object step) {
        Object object = Markup.plain(given);
        Values.requireDefined(object);
        if (!(object instanceof List<?>) && !(object instanceof String)) {
            throw new TemplateException(Values.typeName(object) + " has no slices");
        }
        List<Object> all = Values.elements(object);
        long stride = step == null ? 1 : Values.integer(step);
        if (stride == 0) {
            throw new TemplateException("a slice's step is 0");
        }
        int size = all.size();
        long first = bound(from, stride > 0 ? 0 : size - 1, size, stride);
        long end = bound(to, stride > 0 ? size : -1, size, stride);
        List<Object> chosen = new ArrayList<>();
        for (long i = first; stride > 0 ? i < end : i > end; i += stride) {
            chosen.add(all.get((int) i));
        }
        budget.make(chosen.size());
        if (object instanceof String) {
            StringBuilder text = new StringBuilder();
            chosen.forEach(text::append);
            return text.toString();
        }
        return object instanceof Tuple ? new Tuple(chosen) : chosen;
    }

    private static long bound(Object given, int byDefault, int size, long stride) {
        if (given == null) {
            return byDefault;
        }
        long index = Values.index(given);
        long position = index < 0 ? index + size : index;
        return stride > 0 ? Math.clamp(position, 0, size) : Math.clamp(position, -1, size - 1);
    }

    /** A value's method or field; null: there is none. */
    private Object own(Object object, String name) {
        if (CHANGES.contains(name) && (object instanceof List<?> || object instanceof Map<?, ?>)) {
            return (Function) _ -> {
                throw new TemplateException(
                        name + " would change " + Values.typeName(object) + ", which is not allowed");
            };
        }
        return switch (object) {
            case String text -> ofString(text, name);
            case Map<?, ?> map -> ofDict(map, name);
            case List<?> list -> ofList(list, name);
            case LoopState loop -> loop.get(name);
            case Macro macro when name.equals("name") -> macro.name();
            case null, default -> null;
        };
    }

    private Function ofDict(Map<?, ?> map, String name) {
        return switch (name) {
            case "items" ->
                _ -> map.entrySet().stream()
                        .map(entry -> (Object) Tuple.of(entry.getKey(), entry.getValue()))
                        .toList();
            case "keys" -> _ -> new ArrayList<>(map.keySet());
            case "values" -> _ -> new ArrayList<>(map.values());
            case "copy" -> _ -> new LinkedHashMap<>(map);
            case "get" ->
                arguments -> {
                    Object key = Values.key(arguments.require(0, "key"));
                    return map.containsKey(key) ? map.get(key) : arguments.get(1, "default", null);
                };
            default -> null;
        };
    }

    private static Function ofList(List<?> list, String name) {
        return switch (name) {
            case "index" ->
                arguments -> {
                    Object wanted = arguments.require(0, "value");
                    for (int i = 0; i < list.size(); i++) {
                        if (Values.equal(list.get(i), wanted)) {
                            return (long) i;
                        }
                    }
                    throw new TemplateException(Values.repr(wanted) + " is not in the list");
                };
            case "count" ->
                arguments -> {
                    Object wanted = arguments.require(0, "value");
                    return list.stream()
                            .filter(each -> Values.equal(each, wanted))
                            .count();
                };
            case "copy" -> _ -> new ArrayList<>(list);
            default -> null;
        };
    }

    private Function ofString(String text, String name) {
        Function method = changed(text, name);
        method = method != null ? method : asked(text, name);
        return method != null ? method : parted(text, name);
    }

    /** Methods that give another text. */
    private Function changed(String text, String name) {
        return switch (name) {
            case "strip" -> arguments -> Strings.strip(text, arguments.text(0, "chars", null), true, true);
            case "lstrip" -> arguments -> Strings.strip(text, arguments.text(0, "chars", null), true, false);
            case "rstrip" -> arguments -> Strings.strip(text, arguments.text(0, "chars", null), false, true);
            case "lower", "casefold" -> _ -> text.toLowerCase(Locale.ROOT);
            case "upper" -> _ -> text.toUpperCase(Locale.ROOT);
            case "capitalize" -> _ -> Strings.capitalize(text);
            case "title" -> _ -> Strings.title(text);
            case "swapcase" -> _ -> Strings.swapCase(text);
            case "removeprefix" ->
                arguments -> {
                    String prefix = Values.string(arguments.require(0, "prefix"));
                    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
                };
            case "removesuffix" ->
                arguments -> {
                    String suffix = Values.string(arguments.require(0, "suffix"));
                    return text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
                };
            case "replace" ->
                arguments -> replace(
                        text,
                        Values.string(arguments.require(0, "old")),
                        Values.string(arguments.require(1, "new")),
                        arguments.integer(2, "count", -1));
            case "join" -> arguments -> join(text, arguments.require(0, "iterable"));
            case "format" -> arguments -> Formats.braces(text, arguments);
            case "ljust" -> arguments -> padded(text, arguments, '<');
            case "rjust" -> arguments -> padded(text, arguments, '>');
            case "center" -> arguments -> Formats.center(text, arguments.integer(0, "width", 0), fill(arguments));
            case "zfill" -> arguments -> Formats.pad(text, arguments.integer(0, "width", 0), '>', '0');
            default -> null;
        };
    }

    private static String padded(String text, Arguments arguments, char align) {
        return Formats.pad(text, arguments.integer(0, "width", 0), align, fill(arguments));
    }

    private static char fill(Arguments arguments) {
        String fill = arguments.text(1, "fillchar", " ");
        return fill.isEmpty() ? ' ' : fill.charAt(0);
    }

    String replace(String text, String old, String by, int most) {
        long places = Strings.count(text, old);
        budget.make(text.length() + (most < 0 ? places : Math.min(places, most)) * by.length());
        return Strings.replace(text, old, by, most);
    }

    /** The parts must be texts. */
    private String join(String separator, Object parts) {
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object part : Values.elements(parts)) {
            out.append(first ? "" : separator).append(Values.string(part));
            first = false;
        }
        budget.make(out.length());
        return out.toString();
    }

    /** Methods that tell something of a text. */
    private static Function asked(String text, String name) {
        return switch (name) {
            case "startswith" -> arguments -> anyOf(arguments, text::startsWith);
            case "endswith" -> arguments -> anyOf(arguments, text::endsWith);
            case "find" -> arguments -> Strings.find(text, Values.string(arguments.require(0, "sub")), false);
            case "rfind" -> arguments -> Strings.find(text, Values.string(arguments.require(0, "sub")), true);
            case "index", "rindex" ->
                arguments -> {
                    long at = Strings.find(text, Values.string(arguments.require(0, "sub")), name.equals("rindex"));
                    if (at < 0) {
                        throw new TemplateException("the text has no such part");
                    }
                    return at;
                };
            case "count" -> arguments -> (long) Strings.count(text, Values.string(arguments.require(0, "sub")));
            case "isalpha" -> _ -> Strings.all(text, Character::isLetter);
            case "isdigit", "isdecimal", "isnumeric" -> _ -> Strings.all(text, Character::isDigit);
            case "isalnum" -> _ -> Strings.all(text, Character::isLetterOrDigit);
            case "isspace" -> _ -> Strings.all(text, Lexer::isSpace);
            case "islower" -> _ -> Strings.cased(text, Character::isLowerCase, Character::isUpperCase);
            case "isupper" -> _ -> Strings.cased(text, Character::isUpperCase, Character::isLowerCase);
            default -> null;
        };
    }

    private static Object anyOf(Arguments arguments, Predicate<String> matches) {
        Object wanted = arguments.require(0, "prefix");
        return wanted instanceof Tuple several
                ? several.stream().anyMatch(each -> matches.test(Values.string(each)))
                : matches.test(Values.string(wanted));
    }

    /** Methods that cut a text. */
    private static Function parted(String text, String name) {
        return switch (name) {
            case "split" ->
                arguments -> Strings.split(text, separator(arguments), arguments.integer(1, "maxsplit", -1));
            case "rsplit" ->
                arguments -> Strings.splitFromEnd(text, separator(arguments), arguments.integer(1, "maxsplit", -1));
            case "splitlines" -> arguments -> Strings.lines(text, arguments.truth(0, "keepends", false));
            case "partition", "rpartition" ->
                arguments -> {
                    String separator = separator(arguments);
                    boolean last = name.equals("rpartition");
                    int at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
                    if (at < 0) {
                        return last ? Tuple.of("", "", text) : Tuple.of(text, "", "");
                    }
                    return Tuple.of(text.substring(0, at), separator, text.substring(at + separator.length()));
                };
            default -> null;
        };
    }

    private static String separator(Arguments arguments) {
        Object separator = arguments.get(0, "sep", null);
        if (separator == null) {
            return null;
        }
        String text = Values.string(separator);
        if (text.isEmpty()) {
            throw new TemplateException("the separator is empty");
        }
        return text;
    }

    /**
     * @param path names and indices with dots between
     * @param byDefault what counts for one that is not there; null: nothing does
     */
    Object path(Object object, String path, Object byDefault) {
        Object value = object;
        for (String name : path.split("\\.", -1)) {
            boolean index = !name.isEmpty() && name.length() < 9 && name.chars().allMatch(Character::isDigit);
            value = item(value, index ? (Object) Long.valueOf(name) : name);
            value = value instanceof Undefined && byDefault != null ? byDefault : value;
        }
        return value;
    }

    static List<Object> reversed(Object value) {
        List<Object> elements = new ArrayList<>(Values.elements(value));
        Collections.reverse(elements);
        return elements;
    }
}
