import * as React from 'react';

/**
 * A switch with what it does below. It shows what holds, not what was clicked.
 */
export function SwitchField({
  label,
  description,
  isOn,
  isDisabled,
  onChange,
  children
}: React.PropsWithChildren<{
  label: string;
  description: string;
  isOn: boolean;
  isDisabled: boolean;
  onChange: (isOn: boolean) => void;
}>): JSX.Element {
  const id = React.useId();
  return (
    <div className="jp-hdspSettings-field" data-kind="switch">
      <div className="jp-hdspSettings-fieldHead">
        <input
          id={id}
          type="checkbox"
          role="switch"
          className="jp-hdspSettings-switch"
          checked={isOn}
          disabled={isDisabled}
          aria-describedby={`${id}-description`}
          onChange={event => onChange(event.target.checked)}
        />
        <label className="jp-hdspSettings-label" htmlFor={id}>
          {label}
        </label>
        {children}
      </div>
      <p id={`${id}-description`} className="jp-hdspSettings-description">
        {description}
      </p>
    </div>
  );
}
