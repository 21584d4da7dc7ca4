import type { JSONObject } from '@lumino/coreutils';
import * as React from 'react';

import type { ImportReport } from '../../generated/rest';

import { useSettings } from '../settingscontext';
import { saveFile } from '../../ui/savefile';
import { listText } from '../../ui/texts/listtext';
import { importText } from '../settingstexts';
import { FileButton } from './filebutton';
import { SectionProblem } from './sectionproblem';

const FILE_NAME = 'hdsp-agent-settings.json';

/**
 * Carry settings elsewhere, take them over, or begin anew.
 */
export function TransferSection(): JSX.Element {
  const { model } = useSettings();
  return (
    <>
      <SectionProblem error={model.settings.error} />
      <Import />
      <Export />
      <Reset />
    </>
  );
}

function Import(): JSX.Element {
  const { model, trans, announce } = useSettings();
  const [report, setReport] = React.useState<ImportReport | null>(null);
  const [unreadable, setUnreadable] = React.useState<string | null>(null);
  const take = async (file: File) => {
    setReport(null);
    setUnreadable(null);
    const content = await readSettingsFile(file);
    if (content === null) {
      setUnreadable(file.name);
      return;
    }
    const answer = await model.importFile(content);
    setReport(answer);
    if (answer) {
      announce(trans.__('The file was imported.'));
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Import')}</legend>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'Imports settings and profiles from a file exported here or from Roo Code. Those with the same name are replaced. What cannot be used is left out and listed.'
        )}
      </p>
      <FileButton
        label={trans.__('Import from a file…')}
        accept=".json,application/json"
        onFile={take}
      />
      {unreadable !== null && (
        <p className="jp-hdspSettings-error" role="alert">
          {trans.__(
            '“%1” is not a settings file: it does not contain a JSON object. Nothing was changed.',
            unreadable
          )}
        </p>
      )}
      {report && <Report report={report} />}
    </fieldset>
  );
}

function Report({ report }: { report: ImportReport }): JSX.Element {
  const { trans } = useSettings();
  const taken = report.items.filter(({ outcome }) => outcome !== 'skipped');
  const notable = report.items.filter(({ outcome }) => outcome !== 'taken');
  return (
    <div className="jp-hdspSettings-report">
      <p>
        {trans._n(
          '%1 value was imported.',
          '%1 values were imported.',
          taken.length
        )}
      </p>
      {report.profiles.length > 0 && (
        <p>
          {trans.__(
            'Profiles in the file: %1',
            listText(report.profiles, trans)
          )}
        </p>
      )}
      {notable.length > 0 && (
        <>
          <p>{trans.__('Left out or changed:')}</p>
          <ul>
            {notable.map((item, index) => (
              <li key={index}>
                <strong>{item.path}</strong> {importText(trans, item)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Export(): JSX.Element {
  const { model, trans } = useSettings();
  const save = async () => {
    const content = await model.settings.exportFile();
    if (content) {
      saveFile(FILE_NAME, JSON.stringify(content, null, 2), 'application/json');
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Export')}</legend>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'Writes settings and profiles to a file you can keep or share. It contains no keys.'
        )}
      </p>
      <button
        type="button"
        className="jp-hdspSettings-button"
        onClick={() => void save()}
      >
        {trans.__('Export to a file')}
      </button>
    </fieldset>
  );
}

function Reset(): JSX.Element {
  const { model, trans, dialogs, announce } = useSettings();
  const reset = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Reset everything?'),
      body: trans.__(
        'All settings are reset to their defaults. All profiles and all saved keys are deleted. Conversations and checkpoints stay. This cannot be undone. Export first to keep a copy.'
      ),
      accept: trans.__('Reset everything')
    });
    if (sure && (await model.resetEverything())) {
      announce(trans.__('Everything was reset.'));
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Reset')}</legend>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'Resets every setting to its default and deletes profiles and saved keys.'
        )}
      </p>
      <button
        type="button"
        className="jp-hdspSettings-button"
        data-danger="true"
        onClick={() => void reset()}
      >
        {trans.__('Reset everything…')}
      </button>
    </fieldset>
  );
}

async function readSettingsFile(file: File): Promise<JSONObject | null> {
  try {
    const content: unknown = JSON.parse(await file.text());
    return typeof content === 'object' &&
      content !== null &&
      !Array.isArray(content)
      ? (content as JSONObject)
      : null;
  } catch {
    return null;
  }
}
