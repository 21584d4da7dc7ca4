import * as React from 'react';

import type { ProfileView } from '../../generated/rest';
import type { ProfileEntry } from '../../generated/wire';

import { useSettings } from '../settingscontext';
import { FieldRow, FieldRows } from '../fields/fieldrow';
import type { IField } from '../fields/fields';
import { fieldsOfProvider, groupFields } from '../fields/fields';
import { modeNames } from '../../ui/texts/modenames';
import { providerName } from '../../ui/texts/providernames';
import { KeyControl } from './keycontrol';
import { modelText } from '../settingstexts';
import { ItemAction, ItemActions } from './itemactions';
import { SectionProblem } from './sectionproblem';

/**
 * The profiles, the one that is open, and which mode uses which.
 */
export function ProfilesSection({
  matches
}: {
  /**
   * Which settings a search found; `null` when nobody searches.
   */
  matches: ((field: IField) => boolean) | null;
}): JSX.Element {
  const { profiles } = useSettings().model;
  const searching = matches !== null;
  return (
    <>
      <SectionProblem error={profiles.error} />
      {!searching && <ProfileList />}
      {profiles.opened && (
        <ProfileForm profile={profiles.opened} matches={matches} />
      )}
      {!searching && <ModeProfiles />}
    </>
  );
}

function ProfileList(): JSX.Element {
  const { model, trans, dialogs } = useSettings();
  const { profiles } = model;
  const create = async () => {
    const name = await dialogs.askName({
      title: trans.__('New profile'),
      label: trans.__('Name of the profile'),
      accept: trans.__('Create')
    });
    if (name !== null) {
      await profiles.create(name);
    }
  };
  return (
    <>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'A profile is a provider, a model and how to use it. New conversations use the current one.'
        )}
      </p>
      <ul className="jp-hdspSettings-profiles">
        {profiles.entries.map(entry => (
          <ProfileItem key={entry.id} entry={entry} />
        ))}
      </ul>
      <button
        type="button"
        className="jp-hdspSettings-button"
        onClick={() => void create()}
      >
        {trans.__('New profile…')}
      </button>
    </>
  );
}

function ProfileItem({ entry }: { entry: ProfileEntry }): JSX.Element {
  const { model, trans, dialogs, announce } = useSettings();
  const { profiles } = model;
  const { name } = entry;
  const isCurrent = profiles.value?.current === name;
  const isOpen = profiles.opened?.id === entry.id;
  const provider = model.providers.find(({ id }) => id === entry.apiProvider);
  const providedBy = provider && providerName(provider.id, trans);
  const about = [providedBy, entry.modelId].filter(Boolean).join(' · ');
  const rename = async () => {
    const newName = await dialogs.askName({
      title: trans.__('Rename profile'),
      label: trans.__('Name of the profile'),
      accept: trans.__('Rename'),
      name
    });
    if (newName !== null && newName !== name) {
      await profiles.rename(name, newName);
    }
  };
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Delete the profile “%1”?', name),
      body: trans.__(
        'Its settings and its saved keys are deleted. Modes that use it switch to the current profile.'
      ),
      accept: trans.__('Delete profile')
    });
    if (sure) {
      await profiles.delete(name);
    }
  };
  const use = async () => {
    if (await profiles.activate(name)) {
      announce(trans.__('“%1” is the current profile.', name));
    }
  };
  return (
    <li
      className="jp-hdspSettings-profile"
      data-current={isCurrent}
      data-open={isOpen}
    >
      <button
        type="button"
        className="jp-hdspSettings-profileName"
        aria-expanded={isOpen}
        onClick={() => void profiles.open(name)}
      >
        <span>{name}</span>
        {isCurrent && (
          <span className="jp-hdspSettings-badge">{trans.__('Current')}</span>
        )}
        {entry.allowed === false && (
          <span className="jp-hdspSettings-badge">
            {trans.__('Provider not allowed by your administrator')}
          </span>
        )}
        <span className="jp-hdspSettings-about">
          {about || trans.__('No provider yet')}
        </span>
      </button>
      <ItemActions name={name}>
        {!isCurrent && (
          <ItemAction
            label={trans.__('Use')}
            about={trans.__('Use “%1”', name)}
            onClick={use}
          />
        )}
        <ItemAction
          label={entry.pinned ? trans.__('Unpin') : trans.__('Pin')}
          about={
            entry.pinned
              ? trans.__('Unpin “%1”', name)
              : trans.__('Pin “%1”', name)
          }
          onClick={() => profiles.pin(name, !entry.pinned)}
        />
        <ItemAction
          label={trans.__('Rename…')}
          about={trans.__('Rename “%1”…', name)}
          onClick={rename}
        />
        <ItemAction
          label={trans.__('Delete…')}
          about={trans.__('Delete “%1”…', name)}
          disabled={profiles.entries.length < 2}
          onClick={remove}
        />
      </ItemActions>
    </li>
  );
}

function ProfileForm({
  profile,
  matches
}: {
  profile: ProfileView;
  matches: ((field: IField) => boolean) | null;
}): JSX.Element {
  const { model, trans } = useSettings();
  const { form, provider } = model.profiles;
  const schema = model.schema.value?.providerSettings ?? {};
  const fields = fieldsOfProvider(model.profileFields, provider);
  const shown = matches ? fields.filter(matches) : fields;
  const renderField = (field: IField) =>
    field.kind === 'secret' ? (
      <KeyControl
        key={`${profile.id}-${field.key}`}
        profile={profile}
        field={field}
      />
    ) : (
      <ProfileFieldRow
        key={`${profile.id}-${field.key}`}
        field={field}
        profile={profile}
      />
    );
  return (
    <section
      className="jp-hdspSettings-form"
      aria-label={trans.__('Profile “%1”', profile.name)}
    >
      <h3>{trans.__('Profile “%1”', profile.name)}</h3>
      {groupFields(schema, shown, model.texts).map(group => (
        <fieldset key={group.id} className="jp-hdspSettings-group">
          <legend>{group.title}</legend>
          <FieldRows
            fields={group.fields}
            unfold={matches !== null}
            needsAttention={field => form.errorOf(field) !== null}
            renderField={renderField}
          />
        </fieldset>
      ))}
    </section>
  );
}

function ProfileFieldRow({
  field,
  profile
}: {
  field: IField;
  profile: ProfileView;
}): JSX.Element {
  const { model, trans } = useSettings();
  const { form, models } = model.profiles;
  if (field.key !== model.modelField) {
    return (
      <FieldRow
        field={model.withChoices(field, trans)}
        form={form}
        scope={profile.id}
        fixed={model.settings.isFixed(field)}
        standard={field.defaultValue ?? undefined}
      />
    );
  }
  const chosen = models.find(({ id }) => id === form.textOf(field));
  return (
    <FieldRow
      field={field}
      form={form}
      scope={profile.id}
      fixed={model.settings.isFixed(field)}
      suggestions={models.map(one => ({
        value: one.id,
        label: [one.name, modelText(trans, one)].filter(Boolean).join(' · ')
      }))}
    >
      {chosen && (
        <p className="jp-hdspSettings-hint">{modelText(trans, chosen)}</p>
      )}
    </FieldRow>
  );
}

function ModeProfiles(): JSX.Element {
  const { model, trans } = useSettings();
  const { profiles } = model;
  const names = modeNames(trans);
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Profile of each mode')}</legend>
      {model.modes(names).map(({ slug, name }) => {
        const id = `jp-hdspSettings-mode-${slug}`;
        return (
          <div key={slug} className="jp-hdspSettings-mode">
            <label htmlFor={id}>{name}</label>
            <select
              id={id}
              className="jp-hdspSettings-input"
              value={profiles.value?.modes[slug] ?? ''}
              onChange={event => {
                const chosen = profiles.entries.find(
                  entry => entry.id === event.target.value
                );
                void profiles.assignMode(slug, chosen?.name ?? null);
              }}
            >
              <option value="">{trans.__('The current profile')}</option>
              {profiles.entries.map(entry => (
                <option key={entry.id} value={entry.id}>
                  {entry.name}
                </option>
              ))}
            </select>
          </div>
        );
      })}
    </fieldset>
  );
}
