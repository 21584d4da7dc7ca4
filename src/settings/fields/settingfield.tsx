import * as React from 'react';

import { useSettings } from '../settingscontext';
import { FieldRow } from './fieldrow';

/**
 * One setting in a section of its own; nothing where this server has none of
 * that name.
 */
export function SettingField({
  name,
  scope
}: {
  name: string;

  /**
   * Tells the ids of equal names apart.
   */
  scope: string;
}): JSX.Element | null {
  const { model } = useSettings();
  const { settings } = model;
  const field = model.field(name);
  return (
    field && (
      <FieldRow
        field={field}
        form={settings.form}
        scope={scope}
        fixed={settings.isFixed(field)}
        standard={settings.defaultOf(field)}
      />
    )
  );
}
