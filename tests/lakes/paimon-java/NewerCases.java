import org.apache.paimon.data.BinaryVector;
import org.apache.paimon.data.Blob;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;

/** What only newer engines write: files beside files, other file formats, other orders. */
final class NewerCases {
    private NewerCases() {}

    static void register() {
        MakeLakes.add("row-sidecar", path -> sidecar(path));
        MakeLakes.add("vector-files", NewerCases::vectorFiles);
        MakeLakes.add("blob-descriptors", NewerCases::descriptors);
        MakeLakes.add("pk-snapshot-ordering", path -> upserts(path, "sequence.snapshot-ordering", "true", "write-only", "true"));
        MakeLakes.add("pk-mod-buckets", path -> upserts(path, "bucket", "2", "bucket-function.type", "mod"));
        MakeLakes.add("pk-bitmap-index", path -> upserts(path, "deletion-vectors.enabled", "true", "pk-bitmap.index.columns", "name"));
        MakeLakes.add("data-row", path -> append(path, "file.format", "row"));
        MakeLakes.add("data-csv", path -> append(path, "file.format", "csv", "file.compression", "none"));
        MakeLakes.add("data-json", path -> append(path, "file.format", "json", "file.compression", "gzip"));
        MakeLakes.add("default-values", NewerCases::defaults);
    }

    private static Schema.Builder tracked() {
        return AppendCases.plain().option("row-tracking.enabled", "true").option("data-evolution.enabled", "true");
    }

    private static Lake sidecar(Path path) throws Exception {
        Lake lake = new Lake(path, tracked().option("data-evolution.row-sidecar.enabled", "true").build());
        lake.batch(AppendCases.item(1, "one"), AppendCases.item(2, null));
        return lake;
    }

    private static Lake vectorFiles(Path path) throws Exception {
        Schema.Builder schema = tracked().column("embedding", DataTypes.VECTOR(3, DataTypes.FLOAT()));
        Lake lake = new Lake(path, schema.option("vector.file.format", "avro").option("vector-field", "embedding").build());
        lake.batch(Types.row(1, Types.s("one"), BinaryVector.fromPrimitiveArray(new float[] {1f, 2f, -0.5f})));
        return lake;
    }

    /** The blob column holds references to bytes elsewhere, not the bytes. */
    private static Lake descriptors(Path path) throws Exception {
        Schema.Builder schema = tracked().column("picture", DataTypes.BLOB()).option("blob-descriptor-field", "picture");
        Lake lake = new Lake(path, schema.build());
        Path other = new Path(path.getParent(), "picture.bin");
        Lake.IO.writeFile(other, "bytes kept outside of the table", true);
        Blob blob = Blob.fromFile(Lake.IO, other.toString(), 6, 4);
        lake.batch(Types.row(1, Types.s("one"), blob), Types.row(2, Types.s("two"), null));
        return lake;
    }

    private static Lake upserts(Path path, String... options) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("id", DataTypes.INT()).column("name", DataTypes.STRING()).primaryKey("id");
        Lake lake = new Lake(path, schema.option("bucket", "1").options(Lake.options(options)).build());
        lake.commit(AppendCases.item(1, "one"), AppendCases.item(2, "two"));
        lake.commit(AppendCases.item(1, "uno"), deleted(2));
        return lake;
    }

    private static InternalRow deleted(int id) {
        return Types.kind(RowKind.DELETE, id, null);
    }

    private static Lake append(Path path, String... options) throws Exception {
        Lake lake = new Lake(path, AppendCases.plain().options(Lake.options(options)).build());
        lake.commit(AppendCases.item(1, "one"), AppendCases.item(2, null));
        return lake;
    }

    private static Lake defaults(Path path) throws Exception {
        Lake lake = new Lake(path, AppendCases.plain().build());
        lake.alter(
                SchemaChange.updateColumnDefaultValue(new String[] {"name"}, "nobody"),
                SchemaChange.updateColumnComment("name", "who \u00e4\u00f6\u00fc \"quoted\""));
        lake.commit(AppendCases.item(1, null), AppendCases.item(2, "two"));
        return lake;
    }
}
