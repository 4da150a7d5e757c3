/** The usual names of external data: torch.onnx writes `model.onnx.data`, ONNX Runtime's and Hugging Face's tools `model.onnx_data`. */

/** What follows the model's name. */
export const EXTERNAL_DATA_SUFFIXES: readonly string[] = ['.data', '_data'];
