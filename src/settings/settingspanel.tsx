import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { errorText } from '../errors';

import { SettingsProvider, useSettings } from './settingscontext';
import type { IDialogs } from '../ui/dialogs';
import { EmbeddedSection } from './sections/embeddedsection';
import { FieldRow, FieldRows } from './fields/fieldrow';
import type { IField } from './fields/fields';
import { fieldsOfProvider } from './fields/fields';
import { FoldersSection } from './sections/folderssection';
import type { OwnSection } from './headingtexts';
import { headingText } from './headingtexts';
import { CommandsSection } from './sections/commandssection';
import { KeyControl } from './sections/keycontrol';
import { KeysSection } from './sections/keyssection';
import { MeaningStatus } from './sections/meaningstatus';
import type { SettingsModel } from './data/settingsmodel';
import { MemorySection } from './memory/memorysection';
import { MEMORY_GROUP } from './memory/memorytexts';
import { MCP_KEY, McpServersSection } from './mcpservers/mcpserverssection';
import {
  COMMANDS_KEY,
  OtherAgentsSection
} from './otheragents/otheragentssection';
import { ModesSection } from './sections/modessection';
import { ProfilesSection } from './sections/profilessection';
import { matches, searchFields, textsOf } from './fields/settingssearch';
import { SearchField } from './searchfield';
import { TransferSection } from './sections/transfersection';

/**
 * All of the settings, with an index and a search.
 */
export function SettingsPanel(props: SettingsPanel.IProps): JSX.Element {
  const { model, trans, dialogs, openConversation = null } = props;
  useChanges(model);
  const [said, announce] = React.useState('');
  const context = React.useMemo(
    () => ({ model, trans, dialogs, announce, openConversation }),
    [model, trans, dialogs, openConversation]
  );
  const failure = model.schema.loadError ?? model.settings.loadError;
  const isReady = model.schema.value !== null && model.settings.value !== null;
  return (
    <SettingsProvider value={context}>
      <div className="jp-hdspSettings">
        {failure && (
          <div className="jp-hdspSettings-failure" role="alert">
            <p>{errorText(trans, failure)}</p>
            <button
              type="button"
              className="jp-hdspSettings-button"
              onClick={() => void model.refresh()}
            >
              {trans.__('Try again')}
            </button>
          </div>
        )}
        {isReady ? (
          <Sections {...props} />
        ) : (
          !failure && <p>{trans.__('Loading settings…')}</p>
        )}
        <div className="jp-hdspSettings-hidden" role="status">
          {said}
        </div>
      </div>
    </SettingsProvider>
  );
}

/**
 * The namespace for `SettingsPanel` statics.
 */
export namespace SettingsPanel {
  /**
   * What the panel is given.
   */
  export interface IProps {
    model: SettingsModel;
    trans: TranslationBundle;
    dialogs: IDialogs;

    /**
     * Show a conversation.
     */
    openConversation?: ((taskId: string) => void) | null;

    /**
     * The section that is open.
     */
    section: string;
    onSection: (section: string) => void;

    /**
     * Another number each time a section is asked for from outside, which ends
     * a search.
     */
    visit?: number;

    /**
     * Called once there is something to search.
     */
    onReady?: () => void;
  }
}

/**
 * Settings that have a section of their own.
 */
const MODE_KEYS: readonly string[] = ['customModes', 'customModePrompts'];
const MCP_KEYS: readonly string[] = ['mcpServerEnabled', COMMANDS_KEY, MCP_KEY];

/**
 * The settings for searching the past, and how those begin that say where an
 * embeddings endpoint is.
 */
const SEARCH_GROUP = 'search';
const ENDPOINT_KEYS = 'searchEndpoint';

/**
 * What people look for who want to connect one of them.
 */
const AGENT_NAMES =
  'Claude Code Codex Cursor VS Code Gemini opencode Copilot MCP';

interface ISection {
  readonly id: string;
  readonly title: string;

  /**
   * What a search found in it.
   */
  readonly found: number;
  readonly render: () => JSX.Element;
}

function Sections(props: SettingsPanel.IProps): JSX.Element {
  const { trans } = useSettings();
  const [query, setQuery] = React.useState('');
  React.useEffect(() => setQuery(''), [props.visit]);
  React.useEffect(() => props.onReady?.(), []);
  const searching = query.trim() !== '';
  const sections = useSections(query);
  const found = sections.filter(section => section.found > 0);
  const open =
    sections.find(section => section.id === props.section) ?? sections[0];
  const shown = searching ? found : [open];
  const total = found.reduce((sum, section) => sum + section.found, 0);
  const choose = (id: string) => {
    setQuery('');
    props.onSection(id);
  };
  const content = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    // What is shown now has nothing to do with how far one has read before.
    if (content.current) {
      content.current.scrollTop = 0;
    }
  }, [open.id, searching]);
  return (
    <>
      <div className="jp-hdspSettings-search">
        <SearchField
          label={trans.__('Search settings')}
          query={query}
          count={searching ? total : null}
          onQuery={setQuery}
        />
      </div>
      <Index
        sections={searching ? found : sections}
        open={searching ? null : open.id}
        onChoose={choose}
      />
      <div
        ref={content}
        className="jp-hdspSettings-content"
        data-section={open.id}
      >
        {shown.map(section => (
          <section
            key={section.id}
            aria-labelledby={`jp-hdspSettings-heading-${section.id}`}
          >
            <h2 id={`jp-hdspSettings-heading-${section.id}`}>
              {section.title}
            </h2>
            {section.render()}
          </section>
        ))}
        {searching && found.length === 0 && (
          <p>{trans.__('No setting contains all of these words.')}</p>
        )}
      </div>
    </>
  );
}

/**
 * The sections by name: a list where there is room for it, else a box to choose from.
 */
function Index(props: {
  sections: readonly ISection[];
  open: string | null;
  onChoose: (id: string) => void;
}): JSX.Element {
  const { trans } = useSettings();
  const { sections, open, onChoose } = props;
  return (
    <nav
      className="jp-hdspSettings-index"
      aria-label={trans.__('Settings sections')}
    >
      <ul>
        {sections.map(({ id, title }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === open ? 'page' : undefined}
              onClick={() => onChoose(id)}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
      <select
        className="jp-hdspSettings-input"
        aria-label={trans.__('Settings section')}
        value={open ?? ''}
        onChange={event => onChoose(event.target.value)}
      >
        {open === null && (
          <option value="">{trans.__('Search results')}</option>
        )}
        {sections.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </nav>
  );
}

/**
 * The sections in their order, with what a search found in each.
 */
function useSections(query: string): ISection[] {
  const { model, trans } = useSettings();
  const searching = query.trim() !== '';
  const own = (id: OwnSection, words: readonly string[]) => {
    const title = headingText(trans, id);
    const found = matches(query, [title, ...words]) ? 1 : 0;
    return { id, title, found };
  };

  const profileFields = fieldsOfProvider(
    model.profileFields,
    model.profiles.provider
  );
  const { storageField } = model;
  const profiles = own('models', []);
  const byField = searchFields(profileFields, query);
  const foundFields =
    byField.length === 0 && profiles.found ? profileFields : byField;
  const groups = model.groups.map(group => {
    const { id, title } = group;
    const fields = searchFields(group.fields, query, title).filter(
      ({ key }) =>
        !MCP_KEYS.includes(key) &&
        (model.ownModes === null || !MODE_KEYS.includes(key))
    );
    return {
      id,
      title,
      found: fields.length,
      render: () => (
        <>
          <GroupFields fields={shownFields(id, fields)} unfold={searching} />
          {id === SEARCH_GROUP && !searching && <MeaningStatus />}
          {id === MEMORY_GROUP && model.memory && !searching && (
            <MemorySection memory={model.memory} />
          )}
        </>
      )
    };
  });
  const shownFields = (id: string, fields: readonly IField[]) => {
    if (id === MEMORY_GROUP) {
      return onlySwitchOpen(fields);
    }
    const { searchByMeaning } = model.settings.value?.settings ?? {};
    return id === SEARCH_GROUP && !searching && searchByMeaning !== 'endpoint'
      ? fields.filter(({ key }) => !key.startsWith(ENDPOINT_KEYS))
      : fields;
  };
  const { ownModes: modes, slashCommands: commands } = model;
  const ownParts: ISection[] = [];
  if (modes !== null) {
    ownParts.push({
      ...own('customModes', [trans.__('System prompt')]),
      render: () => <ModesSection modes={modes} />
    });
  }
  if (commands !== null) {
    ownParts.push({
      ...own('slashCommands', []),
      render: () => <CommandsSection commands={commands} />
    });
  }
  const { mcpServers, otherAgents } = model;
  const mcpParts: ISection[] = [];
  if (mcpServers !== null) {
    mcpParts.push({
      ...own('mcpServers', [trans.__('Tools, resources and prompts')]),
      render: () => <McpServersSection servers={mcpServers} />
    });
  }
  if (otherAgents !== null) {
    mcpParts.push({
      ...own('otherAgents', [
        trans.__('Let other agents work in your notebooks'),
        AGENT_NAMES
      ]),
      render: () => <OtherAgentsSection agents={otherAgents} />
    });
  }
  return [
    {
      ...profiles,
      found: foundFields.length,
      render: () => (
        <ProfilesSection
          matches={searching ? field => foundFields.includes(field) : null}
        />
      )
    },
    {
      ...own('keys', storageField ? textsOf(storageField) : []),
      render: () => <KeysSection />
    },
    {
      ...own('embedded', [
        trans.__('Models that run on this machine without a key (GGUF)')
      ]),
      render: () => <EmbeddedSection />
    },
    ...groups,
    ...ownParts,
    ...mcpParts,
    {
      ...own('folders', [
        trans.__(
          'Modes, rules, slash commands, MCP servers and AGENTS.md of a folder'
        )
      ]),
      render: () => <FoldersSection />
    },
    { ...own('transfer', []), render: () => <TransferSection /> }
  ];
}

/**
 * Fold away all but the switch: people come for what is remembered.
 */
function onlySwitchOpen(fields: readonly IField[]): readonly IField[] {
  return fields.map(field => ({ ...field, advanced: field !== fields[0] }));
}

function GroupFields(props: {
  fields: readonly IField[];
  unfold: boolean;
}): JSX.Element {
  const { model, trans } = useSettings();
  const { settings } = model;
  // A section with nothing but advanced settings is no place to fold them away.
  const foldable = props.fields.some(field => !field.advanced);
  return (
    <FieldRows
      fields={props.fields.map(field => ({
        ...model.withChoices(field, trans),
        advanced: foldable && field.advanced
      }))}
      unfold={props.unfold}
      needsAttention={field => settings.form.errorOf(field) !== null}
      renderField={field =>
        field.kind === 'secret' ? (
          <KeyControl key={field.key} profile={null} field={field} />
        ) : (
          <FieldRow
            key={field.key}
            field={field}
            form={settings.form}
            scope="all"
            fixed={settings.isFixed(field)}
            standard={settings.defaultOf(field)}
          />
        )
      }
    />
  );
}

function useChanges(model: SettingsModel): void {
  const [, update] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    model.changed.connect(update);
    return () => {
      model.changed.disconnect(update);
    };
  }, [model]);
}
