import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';
import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { IField } from './fields';
import type { FieldForm } from './fieldform';
import { choiceKey, chosenValues } from './fieldvalues';

/**
 * What edits one setting.
 */
export function FieldControl(props: FieldControl.IProps): JSX.Element {
  switch (props.field.kind) {
    case 'switch':
      return <SwitchControl {...props} />;
    case 'flag':
    case 'choice':
      return <ChoiceControl {...props} />;
    case 'choices':
      return <ChoicesControl {...props} />;
    case 'lines':
    case 'paragraph':
    case 'json':
      return <ParagraphControl {...props} />;
    default:
      return <LineControl {...props} />;
  }
}

/**
 * The namespace for `FieldControl` statics.
 */
export namespace FieldControl {
  /**
   * What a control is given.
   */
  export interface IProps {
    field: IField;
    form: FieldForm;
    trans: TranslationBundle;

    /**
     * The id of the input, which its label names.
     */
    id: string;
    disabled: boolean;
    invalid: boolean;

    /**
     * The ids of the texts that describe it.
     */
    describedBy: string;

    /**
     * Values to suggest; others are accepted too.
     */
    suggestions?: readonly { value: string; label: string }[];
  }
}

function attributes(props: FieldControl.IProps) {
  return {
    id: props.id,
    disabled: props.disabled,
    'aria-invalid': props.invalid || undefined,
    'aria-describedby': props.describedBy || undefined
  };
}

function SwitchControl(props: FieldControl.IProps): JSX.Element {
  const { field, form } = props;
  return (
    <input
      {...attributes(props)}
      type="checkbox"
      role="switch"
      className="jp-hdspSettings-switch"
      checked={form.textOf(field) === 'true'}
      onChange={event => form.choose(field, String(event.target.checked))}
    />
  );
}

function ChoiceControl(props: FieldControl.IProps): JSX.Element {
  const { field, form, trans } = props;
  const text = form.textOf(field);
  const choices =
    field.kind === 'flag'
      ? [
          { value: true, title: trans.__('On') },
          { value: false, title: trans.__('Off') }
        ]
      : field.choices;
  const isKnown = choices.some(({ value }) => choiceKey(value) === text);
  return (
    <select
      {...attributes(props)}
      className="jp-hdspSettings-input"
      value={text}
      onChange={event => form.choose(field, event.target.value)}
    >
      {(field.nullable || text === '') && (
        <option value="">{trans.__('Not set')}</option>
      )}
      {text !== '' && !isKnown && <option value={text}>{text}</option>}
      {choices.map(({ value, title }) => (
        <option key={choiceKey(value)} value={choiceKey(value)}>
          {title}
        </option>
      ))}
    </select>
  );
}

function ChoicesControl(props: FieldControl.IProps): JSX.Element {
  const { field, form, disabled, describedBy } = props;
  const chosen = chosenValues(form.textOf(field));
  const isChosen = (value: JSONValue) =>
    chosen.some(other => JSONExt.deepEqual(other, value));
  const toggle = (value: JSONValue, on: boolean) => {
    const values = field.choices
      .map(choice => choice.value)
      .filter(one => (JSONExt.deepEqual(one, value) ? on : isChosen(one)));
    form.choose(field, JSON.stringify(values));
  };
  return (
    <div
      className="jp-hdspSettings-choices"
      role="group"
      aria-labelledby={`${props.id}-label`}
      aria-describedby={describedBy || undefined}
    >
      {field.choices.map(({ value, title }) => (
        <label key={choiceKey(value)} className="jp-hdspSettings-check">
          <input
            type="checkbox"
            disabled={disabled}
            checked={isChosen(value)}
            onChange={event => toggle(value, event.target.checked)}
          />
          {title}
        </label>
      ))}
    </div>
  );
}

function ParagraphControl(props: FieldControl.IProps): JSX.Element {
  const { field, form } = props;
  const text = form.textOf(field);
  const rows = Math.min(Math.max(text.split('\n').length + 1, 3), 16);
  return (
    <textarea
      {...attributes(props)}
      dir="auto"
      className="jp-hdspSettings-input"
      data-kind={field.kind}
      spellCheck={field.kind === 'paragraph'}
      rows={rows}
      value={text}
      onChange={event => form.type(field, event.target.value)}
      onBlur={() => form.commit(field)}
      onKeyDown={event => revertOnEscape(event, props)}
    />
  );
}

function LineControl(props: FieldControl.IProps): JSX.Element {
  const { field, form, suggestions } = props;
  const isNumber = field.kind === 'number' || field.kind === 'integer';
  const list = suggestions?.length ? `${props.id}-suggestions` : undefined;
  return (
    <>
      <input
        {...attributes(props)}
        className="jp-hdspSettings-input"
        type={isNumber ? 'number' : 'text'}
        min={field.minimum ?? undefined}
        max={field.maximum ?? undefined}
        step={field.kind === 'number' ? 'any' : undefined}
        spellCheck={false}
        autoComplete="off"
        list={list}
        value={form.textOf(field)}
        onChange={event => form.type(field, event.target.value)}
        onBlur={() => form.commit(field)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !isComposing(event.nativeEvent)) {
            form.commit(field);
          }
          revertOnEscape(event, props);
        }}
      />
      {list && (
        <datalist id={list}>
          {suggestions?.map(({ value, label }) => (
            <option key={value} value={value} label={label} />
          ))}
        </datalist>
      )}
    </>
  );
}

function revertOnEscape(
  event: React.KeyboardEvent,
  { field, form }: FieldControl.IProps
): void {
  if (
    event.key === 'Escape' &&
    !isComposing(event.nativeEvent) &&
    form.hasDraft(field)
  ) {
    event.stopPropagation();
    form.revert(field);
  }
}
