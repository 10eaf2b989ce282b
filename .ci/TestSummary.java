import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Sums up Surefire's XML reports, from the folders given as arguments: every skipped test with its reason, every failed one
 * with its message, and one line, {@code N passed, N failed, N skipped}. Exits with 1 if a test failed or none passed.
 */
public final class TestSummary {
    private static final int MESSAGE_LENGTH = 300;

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
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(folder, "TEST-*.xml")) {
            for (Path report : reports) {
                addReport(parser, report);
            }
        }
    }

    private void addReport(DocumentBuilder parser, Path report) throws IOException {
        try {
            NodeList tests = parser.parse(report.toFile()).getElementsByTagName("testcase");
            for (int i = 0; i < tests.getLength(); i++) {
                addTest((Element) tests.item(i));
            }
        } catch (SAXException e) {
            failed.add(report + ": not a whole report: " + e.getMessage());
        }
    }

    private void addTest(Element test) {
        String className = test.getAttribute("classname");
        String name = className.substring(className.lastIndexOf('.') + 1) + "." + test.getAttribute("name");
        for (Node child = test.getFirstChild(); child != null; child = child.getNextSibling()) {
            switch (child.getNodeName()) {
                case "skipped" -> {
                    skipped.add(name + ": " + message((Element) child, "no reason given"));
                    return;
                }
                case "failure", "error" -> {
                    failed.add(name + ": " + message((Element) child, "no message"));
                    return;
                }
                default -> {}
            }
        }
        passed++;
    }

    /** One line of why: the message of the assumption or assertion, without the exception's name and where it came from. */
    private static String message(Element outcome, String absent) {
        String message = outcome.getAttribute("message");
        if (message.isBlank()) {
            String text = outcome.getTextContent();
            int stackTrace = text.indexOf("\n\tat ");
            message = (stackTrace < 0 ? text : text.substring(0, stackTrace)).replaceFirst("^\\s*[\\w.$]+: ", "");
        }
        message = message.replaceFirst("^Assumption failed: ", "")
                .replaceAll("\u001B\\[[0-9;]*m", "")
                .replaceAll("\\s+", " ")
                .strip();
        return message.isEmpty() ? absent : message.substring(0, Math.min(message.length(), MESSAGE_LENGTH));
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
