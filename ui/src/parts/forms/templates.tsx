/** How rjsf's forms look here: our labels, inputs, lists. A field's label is its title, or its key. */
import {
  enumOptionsIndexForValue, enumOptionsValueForIndex, getInputProps,
  type ArrayFieldItemTemplateProps, type ArrayFieldTemplateProps, type BaseInputTemplateProps, type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps, type ObjectFieldTemplateProps, type WidgetProps,
} from "@rjsf/utils";
import type { ReactNode } from "react";

import { Button } from "../Button.tsx";
import { Told } from "../Field.tsx";
import { CloseIcon, PlusIcon } from "../icons.tsx";

function Field(props: FieldTemplateProps): ReactNode {
  const { id, label, children, rawErrors, rawDescription, required, hidden, displayLabel, schema, onRemoveProperty } = props;
  if (hidden === true) return <div hidden>{children}</div>;
  const isGroup = schema.type === "object" || schema.type === "array";
  const isBox = schema.type === "boolean" && schema.enum === undefined;
  return (
    <div className="field">
      {displayLabel === true && !isBox && !isGroup && (
        <span>
          <label htmlFor={id} className="label given">{label}</label>
          {required === true && <span aria-hidden="true" className="muted"> required</span>}
        </span>
      )}
      {children}
      {"__additional_property" in schema && <Button small onClick={onRemoveProperty}>{`Remove ${label}`}</Button>}
      {!isGroup && <Told id={`${id}__told`} hint={rawDescription} refused={rawErrors?.join("; ")} />}
      {isGroup && rawErrors !== undefined && rawErrors.length > 0 && <Told id={`${id}__told`} refused={rawErrors.join("; ")} />}
    </div>
  );
}

function ObjectField({ title, description, properties, fieldPathId, schema, onAddProperty }: ObjectFieldTemplateProps): ReactNode {
  const inner = fieldPathId.path.length > 0;
  return (
    <fieldset id={fieldPathId.$id}>
      {inner && title !== "" && <legend className="given">{title}</legend>}
      {typeof description === "string" && description !== "" && <p className="hint muted given">{description}</p>}
      {properties.map((each) => each.content)}
      {schema.additionalProperties !== undefined && schema.additionalProperties !== false && (
        <div><Button small onClick={() => onAddProperty()}><PlusIcon size={12} /> Add a field</Button></div>
      )}
    </fieldset>
  );
}

function ArrayField({ title, items, canAdd, onAddClick, fieldPathId, schema }: ArrayFieldTemplateProps): ReactNode {
  return (
    <fieldset id={fieldPathId.$id}>
      <legend className="label given">{title}</legend>
      {schema.description !== undefined && <p className="hint muted given">{schema.description}</p>}
      {items}
      {canAdd === true && <div><Button small onClick={() => { onAddClick(); }}><PlusIcon size={12} /> {`Add to ${title}`}</Button></div>}
    </fieldset>
  );
}

function ArrayItem({ children, buttonsProps, index }: ArrayFieldItemTemplateProps): ReactNode {
  return (
    <div className="array-item">
      {children}
      {buttonsProps.hasRemove && (
        <Button small square variant="quiet" aria-label={`Remove item ${String(index + 1)}`} onClick={() => { buttonsProps.onRemoveItem(); }}><CloseIcon size={12} /></Button>
      )}
    </div>
  );
}

function MultiSchema({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps): ReactNode {
  return <>{selector}{optionSchemaField}</>;
}

function Input(props: BaseInputTemplateProps): ReactNode {
  const { id, schema, options, required, disabled, readonly, rawErrors, onChange, onBlur, onFocus, placeholder, label, hideLabel } = props;
  const given = getInputProps(schema, props["type"] as string | undefined, options);
  const shown: unknown = props.value;
  return (
    <input
      id={id} className="input" type={given.type} step={given.step} min={given.min} max={given.max} placeholder={placeholder}
      value={typeof shown === "string" || typeof shown === "number" ? shown : ""} aria-required={required} disabled={disabled} readOnly={readonly} autoComplete="off"
      aria-label={hideLabel === true ? label : undefined} aria-invalid={(rawErrors?.length ?? 0) > 0} aria-describedby={`${id}__told`}
      onChange={(event) => { onChange(event.target.value === "" ? options.emptyValue : event.target.value); }}
      onBlur={(event) => { onBlur(id, event.target.value); }} onFocus={(event) => { onFocus(id, event.target.value); }}
    />
  );
}

function TextArea({ id, value, onChange, options, required, disabled, readonly, rawErrors }: WidgetProps): ReactNode {
  return (
    <textarea
      id={id} className="input" value={typeof value === "string" ? value : ""} aria-required={required} disabled={disabled} readOnly={readonly}
      aria-invalid={(rawErrors?.length ?? 0) > 0} aria-describedby={`${id}__told`}
      onChange={(event) => { onChange(event.target.value === "" ? options.emptyValue : event.target.value); }}
    />
  );
}

function Select({ id, value, options, required, disabled, multiple, onChange, rawErrors, label, hideLabel }: WidgetProps): ReactNode {
  const choices = options.enumOptions ?? [];
  const index = enumOptionsIndexForValue(value, choices, multiple);
  const isSelector = /__(one|any)of_select$/.test(id); // of a schema with several shapes, which rjsf gives no label
  return (
    <select
      id={id} className="select" multiple={multiple} value={multiple === true ? (index) : typeof index === "string" ? index : ""} aria-required={required} disabled={disabled}
      aria-label={isSelector ? label || "Kind" : hideLabel === true ? label : undefined} aria-invalid={(rawErrors?.length ?? 0) > 0} aria-describedby={`${id}__told`}
      onChange={(event) => {
        const chosen = multiple === true ? [...event.target.selectedOptions].map((each) => each.value) : event.target.value;
        onChange(enumOptionsValueForIndex(chosen, choices, options.emptyValue));
      }}
    >
      {multiple !== true && <option value="" />}
      {choices.map((each, at) => <option key={at} value={String(at)}>{each.label}</option>)}
    </select>
  );
}

/** A yes or no that must be given is asked with two buttons, since an empty box would look like an answer. */
function YesOrNo({ id, value, label, disabled, readonly, onChange }: WidgetProps): ReactNode {
  return (
    <>
    <span aria-hidden="true"><span className="label given">{label}</span><span className="muted"> required</span></span>
    <div role="radiogroup" aria-label={label} aria-describedby={`${id}__told`} id={id} className="yes-or-no">
      {([["yes", true], ["no", false]] as const).map(([name, means]) => (
        <label key={name} className="toggle" data-chosen={value === means}>
          <input type="radio" name={id} checked={value === means} disabled={disabled === true || readonly === true} onChange={() => { onChange(means); }} />
          <span>{name}</span>
        </label>
      ))}
    </div>
    </>
  );
}

function CheckBox(props: WidgetProps): ReactNode {
  const { id, label, disabled, readonly, onChange, required } = props;
  if (required === true) return <YesOrNo {...props} />;
  return (
    <label className="choice">
      <input id={id} type="checkbox" className="checkbox" checked={props.value === true} disabled={disabled === true || readonly === true} onChange={(event) => { onChange(event.target.checked); }} aria-describedby={`${id}__told`} />
      <span className="given">{label}</span>
    </label>
  );
}

function Radio({ id, value, label, options, disabled, onChange }: WidgetProps): ReactNode {
  const choices = options.enumOptions ?? [];
  return (
    <div role="radiogroup" aria-label={label} id={id} className="choices">
      {choices.map((each, at) => (
        <label key={at} className="choice">
          <input type="radio" name={id} checked={value === each.value} disabled={disabled} onChange={() => { onChange(each.value); }} />
          <span className="given">{each.label}</span>
        </label>
      ))}
    </div>
  );
}

export const templates = {
  FieldTemplate: Field, ObjectFieldTemplate: ObjectField, ArrayFieldTemplate: ArrayField, ArrayFieldItemTemplate: ArrayItem,
  MultiSchemaFieldTemplate: MultiSchema, BaseInputTemplate: Input, ErrorListTemplate: () => null, FieldErrorTemplate: () => null,
};
export const widgets = { SelectWidget: Select, CheckboxWidget: CheckBox, RadioWidget: Radio, TextareaWidget: TextArea };
