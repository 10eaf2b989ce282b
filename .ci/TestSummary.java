import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Sums up the Open Test Reports that JUnit leaves in Surefire's folders, which are the arguments: every skipped test with its
 * reason, every failed one with its message, and one line, {@code N passed, N failed, N skipped}. Exits with 1 if a test failed or
 * none passed.
 *
 * <p>What holds tests, such as a class, a factory or a method with many arguments, counts as one where it was skipped or failed as
 * a whole: its tests are then known to nobody, and Surefire's own reports say nothing of most of them.
 */
public final class TestSummary {
    private static final int MESSAGE_LENGTH = 300;
    private static final String REPORT = "open-test-report.xml";

    private final List<String> skipped = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private int passed;

    private TestSummary() {}

    public static void main(String[] folders) throws Exception {
        TestSummary summary = new TestSummary();
        for (String folder : folders) {
            if (Files.isDirectory(Path.of(folder))) {
                summary.addFolder(Path.of(folder));
            }
        }
        summary.print();
        System.exit(summary.failed.isEmpty() && summary.passed > 0 ? 0 : 1);
    }

    private void addFolder(Path folder) throws Exception {
        DocumentBuilder parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        parser.setErrorHandler(null);
        boolean found = false;
        try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder, "open-*")) {
            for (Path run : runs) {
                addReport(parser, run.resolve(REPORT));
                found = true;
            }
        }
        if (!found) {
            failed.add(folder + ": no " + REPORT + ": JUnit's reports are off, or the tests did not begin");
        }
    }

    private void addReport(DocumentBuilder parser, Path report) throws IOException {
        try {
            Element events = parser.parse(report.toFile()).getDocumentElement();
            Map<String, Part> parts = new HashMap<>();
            for (Element started : children(events, "e:started")) {
                parts.put(started.getAttribute("id"), Part.of(started, parts.get(started.getAttribute("parentId"))));
            }
            for (Element finished : children(events, "e:finished")) {
                Part part = parts.remove(finished.getAttribute("id"));
                add(part, children(finished, "result").getFirst());
            }
            parts.values().forEach(part -> failed.add(part.name + ": did not end"));
        } catch (SAXException e) {
            failed.add(report + ": not a whole report: " + e.getMessage());
        }
    }

    /** A test, or what holds tests: named by class, method and, where a method has many, its own name. */
    private record Part(String name, boolean isTest) {
        static Part of(Element started, Part parent) {
            String own = started.getAttribute("name");
            boolean isTest = text(started, "junit:type").contains("TEST");
            NodeList methods = started.getElementsByTagName("java:methodSource");
            NodeList classes = started.getElementsByTagName("java:classSource");
            if (methods.getLength() > 0) {
                Element method = (Element) methods.item(0);
                String name = simpleName(method) + "." + method.getAttribute("methodName");
                boolean isOneOfMany = parent != null && parent.name.startsWith(name);
                return new Part(isOneOfMany ? name + " " + own : name, isTest);
            }
            return new Part(classes.getLength() > 0 ? simpleName((Element) classes.item(0)) : own, isTest);
        }

        private static String simpleName(Element source) {
            String className = source.getAttribute("className");
            return className.substring(className.lastIndexOf('.') + 1);
        }
    }

    private void add(Part part, Element result) {
        switch (result.getAttribute("status")) {
            case "SUCCESSFUL" -> passed += part.isTest ? 1 : 0;
            case "FAILED" -> failed.add(part.name + ": " + message(result, "no message"));
            default -> skipped.add(part.name + ": " + message(result, "no reason given"));
        }
    }

    /** One line of why: the message of the assumption or assertion, without the exception's name and where it came from. */
    private static String message(Element result, String absent) {
        String text = text(result, "reason");
        if (text.isBlank()) {
            text = text(result, "java:throwable");
            int stackTrace = text.indexOf("\n\tat ");
            text = (stackTrace < 0 ? text : text.substring(0, stackTrace)).replaceFirst("^\\s*[\\w.$]+(: |$)", "");
        }
        text = text.replaceFirst("^Assumption failed: ", "")
                .replaceAll("\u001B\\[[0-9;]*m", "")
                .replaceAll("\\s+", " ")
                .strip();
        return text.isEmpty() ? absent : text.substring(0, Math.min(text.length(), MESSAGE_LENGTH));
    }

    private static String text(Element element, String tag) {
        NodeList found = element.getElementsByTagName(tag);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent();
    }

    private static List<Element> children(Element parent, String tag) {
        NodeList found = parent.getElementsByTagName(tag);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            elements.add((Element) found.item(i));
        }
        return elements;
    }

    private void print() {
        printList("Skipped", skipped);
        printList("Failed", failed);
        System.out.printf("%n%d passed, %d failed, %d skipped%n", passed, failed.size(), skipped.size());
    }

    private static void printList(String title, List<String> tests) {
        if (!tests.isEmpty()) {
            System.out.printf("%n%s:%n", title);
            tests.stream().sorted().forEach(each -> System.out.println("  " + each));
        }
    }
}
