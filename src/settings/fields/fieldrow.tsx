import type { JSONValue } from '@lumino/coreutils';
import * as React from 'react';

import { errorText } from '../../errors';

import { useSettings } from '../settingscontext';
import { FieldControl } from './fieldcontrol';
import type { IField } from './fields';
import type { FieldForm } from './fieldform';
import { sameValue } from './fieldvalues';
import { boundsText, statusText, valueText } from '../settingstexts';

/**
 * One setting: its name, its control, what it means, and how it stands.
 */
export function FieldRow(props: {
  field: IField;
  form: FieldForm;

  /**
   * Tells the ids of equal names apart.
   */
  scope: string;
  fixed?: boolean;

  /**
   * The value it has when nobody sets it.
   */
  standard?: JSONValue;
  suggestions?: readonly { value: string; label: string }[];
  children?: React.ReactNode;
}): JSX.Element {
  const { field, form, fixed = false, standard } = props;
  const { trans } = useSettings();
  const id = `jp-hdspSettings-${props.scope}-${field.key}`;
  const error = form.errorOf(field);
  const status = form.statusOf(field);
  const isChanged =
    standard !== undefined && !sameValue(form.valueOf(field), standard);
  const hints = [
    boundsText(trans, field),
    isChanged ? trans.__('Default: %1', valueText(trans, field, standard)) : ''
  ].filter(Boolean);
  const describedBy = [
    error ? `${id}-error` : '',
    field.description ? `${id}-description` : '',
    hints.length > 0 ? `${id}-hint` : ''
  ]
    .filter(Boolean)
    .join(' ');
  const canReset = isChanged && !fixed;
  const control = (
    <FieldControl
      field={field}
      form={form}
      trans={trans}
      id={id}
      disabled={fixed}
      invalid={error !== null}
      describedBy={describedBy}
      suggestions={props.suggestions}
    />
  );
  return (
    <div
      className="jp-hdspSettings-field"
      data-key={field.key}
      data-kind={field.kind}
      data-status={status}
    >
      <div className="jp-hdspSettings-fieldHead">
        {field.kind === 'switch' && control}
        <label
          id={`${id}-label`}
          className="jp-hdspSettings-label"
          htmlFor={field.kind === 'choices' ? undefined : id}
        >
          {field.title}
        </label>
        {fixed && (
          <span className="jp-hdspSettings-badge">
            {trans.__('Set by your administrator')}
          </span>
        )}
        <span className="jp-hdspSettings-status">
          {statusText(trans, status)}
        </span>
      </div>
      {field.kind !== 'switch' && control}
      {error && (
        <div className="jp-hdspSettings-error">
          <span id={`${id}-error`} role="alert">
            {errorText(trans, error)}
          </span>
          <button
            type="button"
            className="jp-hdspSettings-link"
            onClick={() => form.revert(field)}
          >
            {trans.__('Undo this edit')}
          </button>
        </div>
      )}
      {field.description && (
        <p id={`${id}-description`} className="jp-hdspSettings-description">
          {field.description}
        </p>
      )}
      {(hints.length > 0 || canReset) && (
        <p className="jp-hdspSettings-hint">
          <span id={`${id}-hint`}>{hints.join(' · ')}</span>
          {canReset && (
            <button
              type="button"
              className="jp-hdspSettings-link"
              aria-label={trans.__('Reset to default: %1', field.title)}
              onClick={() => form.reset(field)}
            >
              {trans.__('Reset to default')}
            </button>
          )}
        </p>
      )}
      {props.children}
    </div>
  );
}

/**
 * Settings one under the other, the advanced ones folded.
 */
export function FieldRows(props: {
  fields: readonly IField[];

  /**
   * Whether to show the advanced ones right away, as in a search.
   */
  unfold: boolean;

  /**
   * Whether something about a setting must not stay folded away.
   */
  needsAttention: (field: IField) => boolean;
  renderField: (field: IField) => JSX.Element;
}): JSX.Element {
  const { trans } = useSettings();
  const [open, setOpen] = React.useState(false);
  const plain = props.fields.filter(field => !field.advanced);
  const advanced = props.fields.filter(field => field.advanced);
  const title = trans._n(
    '%1 advanced setting',
    '%1 advanced settings',
    advanced.length
  );
  return (
    <>
      {plain.map(props.renderField)}
      {advanced.length > 0 && (
        <details
          className="jp-hdspSettings-advanced"
          aria-label={title}
          open={open || props.unfold || advanced.some(props.needsAttention)}
          onToggle={event => {
            // What a search unfolds is folded again after it; what a person or an error opened stays.
            if (!props.unfold) {
              setOpen(event.currentTarget.open);
            }
          }}
        >
          <summary>{title}</summary>
          {advanced.map(props.renderField)}
        </details>
      )}
    </>
  );
}
