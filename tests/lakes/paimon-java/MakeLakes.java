import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.types.DataType;

/**
 * Writes every case of this folder with the Paimon on the class path: {@code java MakeLakes ROOT VERSION [CASE...]}.
 * Each case gives ROOT/VERSION-CASE/table and ROOT/VERSION-CASE/answers.json. See README.md and make.py.
 */
public final class MakeLakes {
    /** One test table: creates it at the given path and writes to it. */
    interface Case {
        Lake make(Path path) throws Exception;
    }

    private static final Map<String, Case> CASES = new LinkedHashMap<>();

    static void add(String name, Case made) {
        CASES.put(name, made);
    }

    public static void main(String[] args) throws Exception {
        TypeCases.register();
        PrimaryKeyCases.register();
        AppendCases.register();
        HistoryCases.register();
        LayoutCases.register();
        NewerCases.register();
        int failed = 0;
        for (Map.Entry<String, Case> entry : CASES.entrySet()) {
            if (args.length > 2 && !java.util.Arrays.asList(args).subList(2, args.length).contains(entry.getKey())) {
                continue;
            }
            String place = args[0] + "/" + args[1] + "-" + entry.getKey();
            try {
                Lake lake = entry.getValue().make(new Path(place + "/table"));
                Map<String, Object> answers = new LinkedHashMap<>();
                answers.put("engine", "paimon " + args[1]);
                answers.putAll(Answers.of(lake.table));
                Files.write(
                        java.nio.file.Paths.get(place, "answers.json"),
                        Json.document(answers).getBytes(StandardCharsets.UTF_8));
                System.out.println("made " + entry.getKey() + " " + answers.getOrDefault("engine_errors", ""));
            } catch (Exception | Error e) {
                failed++;
                System.out.println("FAILED " + entry.getKey() + ": " + e);
                e.printStackTrace();
            }
        }
        if (args.length == 2 || java.util.Arrays.asList(args).contains("binary-rows")) {
            Files.write(
                    java.nio.file.Paths.get(args[0], args[1] + "-binary_rows.json"),
                    Json.document(BinaryRows.all()).getBytes(StandardCharsets.UTF_8));
        }
        System.out.println(failed + " failed");
        System.exit(0);
    }

    /** A schema builder fed with the columns of {@link Types}. */
    static Schema.Builder columns(Schema.Builder schema, Map<String, Object[]> columns) {
        columns.forEach((name, column) -> schema.column(name, (DataType) column[0]));
        return schema;
    }
}
