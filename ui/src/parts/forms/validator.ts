/** What checks values against JSON Schema in the browser, for rjsf: it interprets schemas, since the policy of the page
 * forbids code that is made at run time. It stands in for Ajv, which rjsf would have. */
import { Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import {
  createErrorHandler, toErrorList, toErrorSchema, unwrapErrorHandler, validationDataMerge,
  type CustomValidator, type ErrorTransformer, type RJSFSchema, type RJSFValidationError, type UiSchema, type ValidationData, type ValidatorType,
} from "@rjsf/utils";

/** Words that only say that something inside did not fit. */
const WRAPPING: ReadonlySet<string> = new Set(["properties", "items", "prefixItems", "additionalProperties", "patternProperties", "allOf", "$ref", "$defs", "if", "then", "else"]);

export interface Misfit {
  /** The names that lead to the value. */
  readonly path: readonly string[];
  readonly keyword: string;
  readonly message: string;
}

/** Everything in a value that does not fit a schema. A schema that cannot be read finds nothing: the server says so. */
export function misfits(schema: object, value: unknown): Misfit[] {
  let units: OutputUnit[];
  try {
    units = new Validator(schema, "2020-12", false).validate(value).errors;
  } catch {
    return [];
  }
  const found = units.filter((unit) => !WRAPPING.has(unit.keyword)).map(misfitIn);
  const seen = new Set<string>();
  return found.filter((each) => {
    const key = JSON.stringify([each.path, each.keyword, each.message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function misfitIn(unit: OutputUnit): Misfit {
  const path = unit.instanceLocation.split("/").slice(1).map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  const missing = unit.keyword === "required" ? /property "(.*)"/.exec(unit.error)?.[1] : undefined;
  if (missing !== undefined) return { path: [...path, missing], keyword: unit.keyword, message: "is needed" };
  return { path, keyword: unit.keyword, message: sentence(unit) };
}

function sentence(unit: OutputUnit): string {
  const type = unit.keyword === "type" ? /Expected "(.+)"/.exec(unit.error)?.[1] : undefined;
  if (type !== undefined) return `must be of type ${type}`;
  const text = unit.error.replace(/^Instance /, "").replace(/\.$/, "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

const validator: ValidatorType = {
  validateFormData(
    data: unknown, schema: RJSFSchema, customValidate?: CustomValidator, transformErrors?: ErrorTransformer, uiSchema?: UiSchema,
  ): ValidationData<unknown> {
    const found: RJSFValidationError[] = misfits(schema, withoutUndefined(data)).map((each) => ({
      name: each.keyword, message: each.message, property: each.path.map((part) => `.${part}`).join(""), stack: `${each.path.join(".")} ${each.message}`,
    }));
    const errors = transformErrors?.(found, uiSchema) ?? found;
    const told: ValidationData<unknown> = { errors, errorSchema: toErrorSchema(errors) };
    if (customValidate === undefined) return told;
    const handler = customValidate(data, createErrorHandler(data), uiSchema);
    const own = unwrapErrorHandler(handler);
    return validationDataMerge({ ...told, errors: [...errors, ...toErrorList(own)] }, own);
  },
  isValid(schema: RJSFSchema, data: unknown, root: RJSFSchema): boolean {
    const whole = typeof schema === "object" && "$defs" in root && !("$defs" in schema) ? { ...schema, $defs: root.$defs } : schema;
    try {
      return new Validator(whole as Schema, "2020-12", true).validate(withoutUndefined(data)).valid;
    } catch {
      return false;
    }
  },
  rawValidation: (schema: RJSFSchema, data?: unknown) => ({ errors: misfits(schema, withoutUndefined(data)) as never[] }),
};

/** A value as it is sent: rjsf keeps fields without a value as undefined, which JSON does not have. */
export function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (each === undefined ? null : withoutUndefined(each)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined).map(([key, each]) => [key, withoutUndefined(each)]));
}

export default validator;
