import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ModeConfig, ModePrompt } from '../../generated/wire';
import { useSettings } from '../settingscontext';
import type { ModesData } from '../data/modesdata';
import { TextBox } from '../../ui/controls/textbox';
import { FormButtons } from './formbuttons';

type ToolGroup = 'read' | 'edit' | 'command';

/**
 * A mode while it is written: all of one's own, of another what it is told.
 */
export function ModeForm(props: {
  modes: ModesData;

  /**
   * The mode that is changed; `null` for a new one.
   */
  mode: ModeConfig | null;

  /**
   * Whether it is the person's own, of which all can be changed.
   */
  isOwn?: boolean;
  onClose: () => void;
}): JSX.Element {
  const { modes, mode, isOwn = true, onClose } = props;
  const { model, trans, announce } = useSettings();
  const [draft, setDraft] = React.useState(() => Private.draftOf(mode));
  const change = (part: Partial<Private.IDraft>) =>
    setDraft({ ...draft, ...part });
  const prompts = model.settings.value?.settings.customModePrompts ?? {};
  const isChanged = mode !== null && !isOwn && mode.slug in prompts;
  const save = async () => {
    const done =
      mode === null || isOwn
        ? await modes.save(Private.modeOf(draft, mode), mode?.slug ?? null)
        : await modes.savePrompt(
            mode.slug,
            Private.promptOf(
              draft,
              mode,
              prompts[mode.slug] as ModePrompt | undefined
            )
          );
    if (done) {
      announce(trans.__('The mode “%1” was saved.', draft.name));
      onClose();
    }
  };
  const reset = async () => {
    if (mode !== null && (await modes.savePrompt(mode.slug, {}))) {
      onClose();
    }
  };
  return (
    <form
      className="jp-hdspSettings-form"
      aria-label={
        mode === null ? trans.__('New mode') : trans.__('Mode “%1”', mode.name)
      }
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      {isOwn && (
        <>
          <TextBox
            label={trans.__('Name')}
            value={draft.name}
            required
            onChange={name =>
              change(
                draft.slug === Private.slugOf(draft.name)
                  ? { name, slug: Private.slugOf(name) }
                  : { name }
              )
            }
          />
          <TextBox
            label={trans.__('Short name')}
            hint={trans.__(
              'Letters, digits and hyphens. Type / and this to use it.'
            )}
            value={draft.slug}
            required
            onChange={slug => change({ slug })}
          />
        </>
      )}
      <TextBox
        label={trans.__('Role')}
        hint={trans.__(
          'Who the agent is in this mode, and what it is good at.'
        )}
        rows={4}
        value={draft.roleDefinition}
        required
        onChange={roleDefinition => change({ roleDefinition })}
      />
      <TextBox
        label={trans.__('When to use it')}
        hint={trans.__('Helps the agent choose a mode.')}
        rows={2}
        value={draft.whenToUse}
        onChange={whenToUse => change({ whenToUse })}
      />
      <TextBox
        label={trans.__('Instructions')}
        rows={6}
        value={draft.customInstructions}
        onChange={customInstructions => change({ customInstructions })}
      />
      {isOwn && <Tools draft={draft} onChange={change} trans={trans} />}
      <FormButtons isBusy={modes.isBusy} onCancel={onClose}>
        {isChanged && (
          <button
            type="button"
            className="jp-hdspSettings-link"
            onClick={() => void reset()}
          >
            {trans.__('Restore the default')}
          </button>
        )}
      </FormButtons>
    </form>
  );
}

function Tools({
  draft,
  onChange,
  trans
}: {
  draft: Private.IDraft;
  onChange: (part: Partial<Private.IDraft>) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const words: Record<ToolGroup, string> = {
    read: trans.__('Read files and notebooks'),
    edit: trans.__('Change files and notebooks'),
    command: trans.__('Run cells and commands')
  };
  const { groups } = draft;
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('What the agent can do in this mode')}</legend>
      {Private.GROUPS.map(group => (
        <label key={group} className="jp-hdspSettings-check">
          <input
            type="checkbox"
            checked={groups.includes(group)}
            onChange={({ target }) =>
              onChange({
                groups: Private.GROUPS.filter(other =>
                  other === group ? target.checked : groups.includes(other)
                )
              })
            }
          />
          {words[group]}
        </label>
      ))}
      {groups.includes('edit') && (
        <TextBox
          label={trans.__('Only files that match')}
          hint={trans.__(
            'A regular expression, such as \\.ipynb$ for notebooks. Empty allows every file.'
          )}
          value={draft.fileRegex}
          onChange={fileRegex => onChange({ fileRegex })}
        />
      )}
    </fieldset>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  const PROMPT_FIELDS = [
    'roleDefinition',
    'whenToUse',
    'customInstructions'
  ] as const;

  export const GROUPS: readonly ToolGroup[] = ['read', 'edit', 'command'];

  /**
   * A mode as the form has it.
   */
  export interface IDraft {
    readonly name: string;
    readonly slug: string;
    readonly roleDefinition: string;
    readonly whenToUse: string;
    readonly customInstructions: string;
    readonly groups: readonly ToolGroup[];
    readonly fileRegex: string;
  }

  type Group = ModeConfig['groups'][number];

  export function draftOf(mode: ModeConfig | null): IDraft {
    const edit = mode?.groups.find(group => nameOf(group) === 'edit');
    return {
      name: mode?.name ?? '',
      slug: mode?.slug ?? '',
      roleDefinition: mode?.roleDefinition ?? '',
      whenToUse: mode?.whenToUse ?? '',
      customInstructions: mode?.customInstructions ?? '',
      groups:
        mode === null
          ? GROUPS
          : GROUPS.filter(name =>
              mode.groups.some(one => nameOf(one) === name)
            ),
      fileRegex: (Array.isArray(edit) && edit[1].fileRegex) || ''
    };
  }

  /**
   * The mode that is meant. What the form does not show stays as it was.
   */
  export function modeOf(draft: IDraft, mode: ModeConfig | null): ModeConfig {
    const others = (mode?.groups ?? []).filter(
      group => !GROUPS.includes(nameOf(group) as ToolGroup)
    );
    const { slug, name, roleDefinition, fileRegex } = draft;
    const { whenToUse: _, customInstructions: __, ...kept } = mode ?? {};
    const filled = (['whenToUse', 'customInstructions'] as const).filter(
      field => draft[field].trim() !== ''
    );
    return {
      ...kept,
      ...Object.fromEntries(filled.map(field => [field, draft[field]])),
      slug: slug.trim(),
      name: name.trim(),
      roleDefinition,
      groups: [
        ...draft.groups.map((group): Group => {
          const before = mode?.groups.find(one => nameOf(one) === group);
          const options = Array.isArray(before) ? before[1] : {};
          if (group !== 'edit' || fileRegex.trim() === '') {
            return group;
          }
          return options.fileRegex === fileRegex
            ? [group, options]
            : [group, { fileRegex }];
        }),
        ...others
      ]
    };
  }

  /**
   * What is changed about the prompt of a mode that is not one's own.
   *
   * @param before - What was changed already.
   */
  export function promptOf(
    draft: IDraft,
    mode: ModeConfig,
    before: ModePrompt = {}
  ): ModePrompt {
    const changed = PROMPT_FIELDS.filter(
      field => draft[field] !== (mode[field] ?? '')
    );
    return {
      ...before,
      ...Object.fromEntries(changed.map(field => [field, draft[field]]))
    };
  }

  export function slugOf(name: string): string {
    return name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '');
  }

  function nameOf(group: Group): string {
    return Array.isArray(group) ? group[0] : group;
  }
}
