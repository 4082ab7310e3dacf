import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.types.DataTypes;

/** Every type as value, as key and as partition. */
final class TypeCases {
    private TypeCases() {}

    static void register() {
        MakeLakes.add("pk-types", path -> values(path, Types.all(), "bucket", "2", "metadata.stats-mode", "full"));
        MakeLakes.add("append-types", path -> appendValues(path, Types.all(), "file.format", "parquet"));
        MakeLakes.add("append-types-orc", path -> appendValues(path, Types.without(Types.all(), "ms", "v"), "file.format", "orc"));
        MakeLakes.add(
                "append-types-avro",
                path -> appendValues(path, Types.without(Types.all(), "ts9", "v"), "file.format", "avro", "metadata.stats-mode", "full"));
        MakeLakes.add("pk-types-as-keys", TypeCases::keys);
        MakeLakes.add("partition-types", path -> partitions(path, "true"));
        MakeLakes.add("partition-types-sql-names", path -> partitions(path, "false"));
        MakeLakes.add("partition-texts", TypeCases::partitionTexts);
        MakeLakes.add("stats-none", path -> modes(path, "none"));
        MakeLakes.add("stats-counts", path -> modes(path, "counts"));
        MakeLakes.add("stats-full", path -> modes(path, "full"));
        MakeLakes.add("stats-truncate", path -> modes(path, "truncate(4)"));
        MakeLakes.add("stats-not-dense", path -> modes(path, "truncate(16)", "metadata.stats-dense-store", "false"));
        MakeLakes.add("stats-first-two", path -> modes(path, "truncate(16)", "metadata.stats-keep-first-n-columns", "2"));
        MakeLakes.add("stats-of-floats", TypeCases::floats);
        MakeLakes.add("wide", TypeCases::wide);
    }

    private static Lake values(Path path, Map<String, Object[]> columns, String... options) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("p", DataTypes.STRING()).column("id", DataTypes.INT());
        MakeLakes.columns(schema, columns).partitionKeys("p").primaryKey("p", "id").options(Lake.options(options));
        Lake lake = new Lake(path, schema.comment("every type").build());
        lake.commit(Types.sample(columns, 1, Types.s("a"), 1), Types.sample(columns, 0, Types.s("a"), 2));
        lake.commit(Types.sample(columns, 2, Types.s("a"), 3), Types.sample(columns, 3, Types.s("b"), 3));
        lake.commit(Types.sample(columns, 0, Types.s("b"), 4));
        lake.compact();
        return lake;
    }

    private static Lake appendValues(Path path, Map<String, Object[]> columns, String... options) throws Exception {
        Schema.Builder schema = MakeLakes.columns(Schema.newBuilder(), columns).options(Lake.options(options));
        Lake lake = new Lake(path, schema.build());
        lake.commit(Types.sample(columns, 1), Types.sample(columns, 0));
        lake.commit(Types.sample(columns, 2), Types.sample(columns, 3));
        lake.commit(Types.sample(columns, 0));
        return lake;
    }

    private static Lake keys(Path path) throws Exception {
        Map<String, Object[]> keys = Types.atoms();
        Schema.Builder schema = MakeLakes.columns(Schema.newBuilder(), keys).column("x", DataTypes.STRING());
        schema.primaryKey(new ArrayList<>(keys.keySet())).option("bucket", "1").option("num-sorted-run.compaction-trigger", "3");
        Lake lake = new Lake(path, schema.build());
        for (int which = 1; which <= 3; which++) {
            GenericRow row = new GenericRow(keys.size() + 1);
            int i = 0;
            for (Object[] column : keys.values()) {
                row.setField(i++, column[which]);
            }
            row.setField(i, which == 2 ? null : Types.s("row " + which));
            lake.commit(row);
        }
        return lake;
    }

    private static Lake partitions(Path path, String legacy) throws Exception {
        Map<String, Object[]> keys = Types.atoms();
        Schema.Builder schema = MakeLakes.columns(Schema.newBuilder(), keys).column("x", DataTypes.STRING());
        List<String> names = new ArrayList<>(keys.keySet());
        schema.partitionKeys(names).option("partition.legacy-name", legacy);
        Lake lake = new Lake(path, schema.build());
        GenericRow[] rows = new GenericRow[4];
        for (int which = 0; which <= 3; which++) {
            rows[which] = new GenericRow(keys.size() + 1);
            int i = 0;
            for (Object[] column : keys.values()) {
                rows[which].setField(i++, which == 0 ? null : column[which]);
            }
            rows[which].setField(i, Types.s("row " + which));
        }
        lake.commit(rows[0], rows[1], rows[2]);
        lake.commit(rows[3]);
        return lake;
    }

    /** Null, empty and blank share one directory; others need escaping or look like it. */
    private static Lake partitionTexts(Path path) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("x", DataTypes.INT());
        schema.column("p", DataTypes.STRING()).column("q", DataTypes.INT()).partitionKeys("p", "q");
        Lake lake = new Lake(path, schema.build());
        String[] texts = {
            null, "", " ", "a b", "a/b", "a=b", "50%", "%2F", "a:b", "gr\u00f6\u00dfe", "__DEFAULT_PARTITION__", "{x}", "a, b", "null", "+"
        };
        List<GenericRow> rows = new ArrayList<>();
        for (int i = 0; i < texts.length; i++) {
            rows.add(Types.row(i, Types.s(texts[i]), i % 3 == 0 ? null : i % 3));
        }
        lake.commit(rows.toArray(new GenericRow[0]));
        lake.commit(Types.row(100, null, null), Types.row(101, Types.s("a/b"), 1));
        return lake;
    }

    private static Lake modes(Path path, String mode, String... options) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("id", DataTypes.INT().notNull()).column("name", DataTypes.STRING());
        schema.column("b", DataTypes.BYTES()).column("n", DataTypes.DECIMAL(20, 2)).column("counted", DataTypes.STRING());
        schema.column("gone", DataTypes.STRING()).primaryKey("id").option("bucket", "1").option("metadata.stats-mode", mode);
        schema.option("fields.counted.stats-mode", "counts").option("fields.gone.stats-mode", "none").options(Lake.options(options));
        Lake lake = new Lake(path, schema.build());
        lake.commit(
                Types.row(1, Types.s("name-8-a-rather-long"), Types.bytes(1, 2, 3, 4, 5), Types.dec("1.50", 20, 2), Types.s("c"), null),
                Types.row(2, Types.s("gr\u00f6\u00dfer \uD83D\uDE00 als sechzehn Zeichen"), null, null, null, Types.s("g")));
        lake.commit(
                Types.row(3, Types.s("\uDBFF\uDFFF\uDBFF\uDFFF\uDBFF\uDFFF\uDBFF\uDFFF and more of it"), Types.bytes(255, 255, 255, 255, 255), null, null, null),
                Types.row(4, null, null, null, null, null));
        return lake;
    }

    private static Lake floats(Path path) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("f", DataTypes.FLOAT()).column("d", DataTypes.DOUBLE());
        Lake lake = new Lake(path, schema.option("file.format", "avro").build());
        lake.commit(Types.row(-0.0f, -0.0), Types.row(0.0f, 0.0));
        lake.commit(Types.row(Float.NaN, Double.NaN), Types.row(1f, 1.0));
        lake.commit(Types.row(Float.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY), Types.row(Float.MIN_VALUE, Double.MIN_VALUE));
        lake.commit(Types.row(Float.NaN, Double.NaN));
        return lake;
    }

    /** More than 56 columns: the null bits of the statistics rows need a second word. */
    private static Lake wide(Path path) throws Exception {
        Schema.Builder schema = Schema.newBuilder();
        for (int i = 0; i < 60; i++) {
            schema.column("c" + i, i % 7 == 6 ? DataTypes.STRING() : DataTypes.INT());
        }
        Lake lake = new Lake(path, schema.build());
        for (int commit = 0; commit < 2; commit++) {
            GenericRow row = new GenericRow(60);
            for (int i = 0; i < 60; i++) {
                row.setField(i, i % 5 == commit ? null : i % 7 == 6 ? (Object) Types.s("text " + i) : (Object) i);
            }
            lake.commit(row);
        }
        return lake;
    }
}
