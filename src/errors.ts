import type { TranslationBundle } from '@jupyterlab/translation';

import type { ErrorLike } from './comm/requesterror';
import { RequestError } from './comm/requesterror';
import type { ErrorBody } from './generated/wire';
import { modelFailureText } from './modelfailuretexts';
import { noModelText } from './nomodeltext';
import { reasonText } from './validationtexts';

/**
 * Anything thrown, as an error with a code.
 */
export function asErrorBody(reason: unknown): ErrorBody {
  if (reason instanceof RequestError) {
    return reason;
  }
  const message = reason instanceof Error ? reason.message : String(reason);
  return { code: 'internal', message, params: {} };
}

/**
 * An error or a notice in the reader's language.
 *
 * @returns The sentence for its code; its own English one if the code is unknown here.
 */
export function errorText(trans: TranslationBundle, error: ErrorLike): string {
  const write = SENTENCES[error.code];
  return write ? write(trans, error) : error.message || error.code;
}

/**
 * The codes that have a sentence.
 */
export function knownCodes(): string[] {
  return Object.keys(SENTENCES);
}

type Sentence = (trans: TranslationBundle, error: ErrorLike) => string;

/**
 * Errors of the server.
 */
const SERVER_ERRORS: Readonly<Record<string, Sentence>> = {
  internal: (trans, error) =>
    param(error, 'reference')
      ? trans.__(
          'Something went wrong on the server. Its log has the details under %1.',
          param(error, 'reference')
        )
      : trans.__('Something went wrong: %1', error.message),
  invalid_input: (trans, error) =>
    trans.__('The server did not understand the request: %1', error.message),
  malformed_frame: (trans, error) =>
    trans.__('The server could not read a message: %1', error.message),
  unknown_type: (trans, error) =>
    trans.__(
      'The server does not know messages of type “%1”. Reload the page. If that does not help, the page and the server have different versions.',
      param(error, 'type')
    ),
  frame_too_large: (trans, error) =>
    trans.__(
      'This is too large for the server. The limit is %1 bytes. Send less at a time.',
      param(error, 'limit')
    ),
  invalid_setting: (trans, error) =>
    trans.__(
      'This value cannot be used: %1. The setting was not changed.',
      reasonText(trans, param(error, 'reason') || error.message)
    ),
  version_mismatch: (trans, error) =>
    trans.__(
      'This page has version %1, but the server has version %2. Reload the page. If that does not help, restart the server.',
      param(error, 'page'),
      param(error, 'server')
    ),
  not_found: (trans, error) => trans.__('Not found: %1', error.message),
  unknown_task: trans =>
    trans.__('This conversation no longer exists. Reload the history.'),
  unknown_profile: (trans, error) =>
    param(error, 'profile')
      ? trans.__('The profile “%1” no longer exists.', param(error, 'profile'))
      : trans.__('This profile no longer exists.'),
  conflict: (trans, error) => {
    const noModel = param(error, 'no_model');
    if (noModel === 'not_set_up' || noModel === 'too_small') {
      return noModelText(noModel, trans);
    }
    const changedTool = param(error, 'changed_tool');
    if (changedTool) {
      return trans.__(
        'The tool %1 has changed since it was shown. Look at it again.',
        changedTool
      );
    }
    return param(error, 'variable')
      ? trans.__(
          'This key comes from the environment variable %1, which overrides saved keys. To use your own key, start the server without that variable.',
          param(error, 'variable')
        )
      : trans.__('This is not possible now: %1', error.message);
  },
  cell_conflict: (trans, error) =>
    trans.__(
      'Cells of %1 changed in the meantime, so nothing was done. Check the notebook, then try again.',
      param(error, 'path')
    ),
  unsaved_elsewhere: (trans, error) =>
    trans.__(
      '%1 has unsaved changes in another tab, so nothing was done. Save or close the notebook there, then try again.',
      param(error, 'path')
    ),
  profile_exists: (trans, error) =>
    param(error, 'profile')
      ? trans.__(
          'A profile named “%1” already exists. Choose another name.',
          param(error, 'profile')
        )
      : trans.__(
          'A profile with this name already exists. Choose another name.'
        ),
  key_for_other_address: (trans, error) =>
    param(error, 'variable')
      ? trans.__(
          'The key in the environment variable %1 is not sent to %2. Enter a key for this address.',
          param(error, 'variable'),
          param(error, 'address')
        )
      : param(error, 'given_for')
        ? trans.__(
            'Enter the key again. The saved key is for %1, not for %2.',
            param(error, 'given_for'),
            param(error, 'address')
          )
        : trans.__(
            "Enter the key again. We can't tell whether the saved key is for %1.",
            param(error, 'address')
          ),
  not_allowed: (trans, error) =>
    trans.__('You are not allowed to do this: %1', error.message),
  forbidden_by_operator: forbidden,
  unsupported: (trans, error) =>
    trans.__('This is not supported here: %1', error.message),
  unavailable: (trans, error) =>
    param(error, 'waits_for') === 'cell'
      ? trans.__('A cell is running. Try again when it is done.')
      : trans.__('This does not work right now: %1', error.message),
  embeddings_unavailable: (trans, error) => {
    switch (param(error, 'missing')) {
      case 'url':
        return trans.__('Enter the address of the embeddings endpoint.');
      case 'model':
        return trans.__('Enter the model of the embeddings endpoint.');
      case 'numpy':
        return trans.__(
          'Searching with an endpoint needs numpy. Install it with “%1” where the server runs. Until then, you can search by words.',
          'pip install numpy'
        );
      default:
        return trans.__(
          'The embeddings endpoint %1 gave no usable answer (%2). Check the address, the model and the key. Until then, you can search by words.',
          param(error, 'url'),
          param(error, 'reason')
        );
    }
  },
  artifact_store_unavailable: (trans, error) =>
    param(error, 'store')
      ? trans.__(
          'Some long outputs and images cannot be shown now: %1 is away (%2). New ones are kept in the database, and moved when it is back. Nothing is lost.',
          param(error, 'store'),
          param(error, 'reason')
        )
      : trans.__(
          'This output is in an object store, and this server does not know in which. Ask your administrator to set artifact_store_url as it was.'
        ),
  storage_unavailable: (trans, error) =>
    param(error, 'reason') === 'locked'
      ? trans.__(
          'Another program is changing %1. Nothing was changed. Try again, or end that program.',
          param(error, 'path')
        )
      : param(error, 'kept') === 'here'
        ? trans.__(
            'The PostgreSQL database %1 is away (%2). What you do meanwhile is kept on this server and saved when the database is back. Until then you cannot start or finish conversations, and longer work may stop.',
            param(error, 'database'),
            param(error, 'reason')
          )
        : param(error, 'database')
          ? trans.__(
              'Could not use the PostgreSQL database %1 (%2). What was saved before is safe. Try again later, or ask your administrator.',
              param(error, 'database'),
              param(error, 'reason')
            )
          : trans.__(
              'The storage folder cannot be used: %1 (%2). Nothing was changed. Free some space or fix the permissions, then try again.',
              param(error, 'path'),
              param(error, 'reason')
            ),
  model_error: (trans, error) =>
    modelFailureText(trans, param(error, 'kind')) ??
    trans.__('The model gave no answer: %1', error.message),
  local_consent_missing: (trans, error) =>
    trans.__(
      'This model is a download of %1 MB, under the license %2. Agree to both first.',
      param(error, 'megabytes'),
      param(error, 'licence')
    ),
  local_not_a_model: (trans, error) =>
    trans.__(
      '%1 is not a model that can be used. Choose a file in the GGUF format, version 2 or 3. (%2)',
      param(error, 'path'),
      param(error, 'reason')
    ),
  local_hub_refused: (trans, error) => {
    const name = param(error, 'name');
    switch (param(error, 'reason')) {
      case 'no_repository':
        return trans.__('The hub has no public repository %1.', name);
      case 'gated':
        return trans.__(
          'The hub gives %1 only to people who have logged in and agreed to its terms. Download it there, then use the file.',
          name
        );
      case 'no_gguf':
        return trans.__(
          '%1 has no model in the GGUF format. Look for a repository whose name ends with GGUF.',
          name
        );
      case 'no_file':
        return trans.__('There is no such GGUF file: %1', name);
      case 'split':
        return trans.__(
          '%1 is split into several files. Choose a smaller one that is whole.',
          name
        );
      case 'no_checksum':
        return trans.__(
          'The hub declares no checksum for %1, so a download could not be checked.',
          name
        );
      case 'too_long':
        return trans.__(
          '%1 has too many files. Choose a smaller repository.',
          name
        );
      default:
        return trans.__(
          'Enter a name such as owner/repository or owner/repository:file.gguf.'
        );
    }
  },
  local_hub_unreachable: (trans, error) =>
    trans.__(
      'The hub could not be asked. Check the connection, then try again. (%1)',
      param(error, 'reason')
    ),
  ghost_text_no_model: trans =>
    trans.__(
      'There is no model for ghost text. Download the embedded model, or choose a profile for ghost text, in the settings.'
    ),
  ghost_text_limit: (trans, error) =>
    trans.__(
      'Ghost text reached its daily limit of $%1. It continues tomorrow, or when you raise the limit in the settings.',
      param(error, 'limit')
    ),
  local_weights_missing: trans =>
    trans.__(
      'The embedded model is not on this machine yet. Download it in the settings, or with “hdsp-agent model get” in a terminal.'
    ),
  local_runtime_missing: trans =>
    trans.__(
      'The embedded model needs an extra that is not installed. Install it with “%1” where the server runs, then restart the server.',
      "pip install 'hdsp-agent[local]'"
    ),
  local_weights_unreachable: (trans, error) =>
    trans.__(
      'The model could not be downloaded. Check the connection and try again: the download continues where it stopped. Or use a file that you already have. (%1)',
      param(error, 'reason')
    ),
  local_wrong_checksum: (trans, error) =>
    param(error, 'fetched')
      ? trans.__(
          'The downloaded file is not the model: its checksum is wrong. It was deleted, and nothing was installed. Try again later, or choose another model.'
        )
      : trans.__(
          '%1 is not used, because its checksum is wrong. Delete it, then download the model again.',
          param(error, 'source')
        ),
  local_no_space: (trans, error) =>
    param(error, 'needed')
      ? trans.__(
          'There is not enough space in %1: it needs %2 MB, and %3 MB are free. Free some space, then try again.',
          param(error, 'path'),
          param(error, 'needed'),
          param(error, 'free')
        )
      : trans.__(
          'The disk of %1 is full. The partial download was deleted. Free some space, then try again.',
          param(error, 'path')
        ),
  local_runtime_failed: (trans, error) =>
    trans.__(
      '%1 cannot run: %2. It starts again when it is needed.',
      param(error, 'model'),
      param(error, 'reason')
    ),
  local_too_little_memory: (trans, error) =>
    param(error, 'reason') === 'killed'
      ? trans.__(
          'The process that runs %1 was killed, most likely because memory ran out. It starts again when it is needed. If this keeps happening, close other programs or notebooks.',
          param(error, 'model')
        )
      : param(error, 'needed')
        ? trans.__(
            'There is too little memory to run %1: it needs about %2 MB, and %3 MB are free. Close other programs or notebooks, or choose a smaller model.',
            param(error, 'model'),
            param(error, 'needed'),
            param(error, 'free')
          )
        : trans.__(
            'There is too little memory to run %1. Close other programs or notebooks, or choose a smaller model.',
            param(error, 'model')
          ),
  local_cpu_too_old: trans =>
    trans.__(
      "This machine's processor lacks instructions that the embedded model needs. Use a model service, or a model server on another machine."
    ),
  secret_storage_unavailable: (trans, error) =>
    param(error, 'cause') === 'keyring_missing'
      ? trans.__('This computer has no keyring. Choose where to keep keys.')
      : trans.__(
          'Saved keys cannot be used. %1 You can also choose another place for them.',
          errorText(trans, { ...error, code: param(error, 'cause') })
        )
};

/**
 * What the server says about the place where keys are kept.
 */
const KEY_STORAGE: Readonly<Record<string, Sentence>> = {
  ok: trans => trans.__('Keys can be saved.'),
  checking: trans => trans.__('Looking for a place to keep keys…'),
  keyring_missing: trans =>
    trans.__('No system keyring found. Choose where to keep keys.'),
  keyring_refused: (trans, error) =>
    trans.__(
      'The keyring set up on this system (%1) does not protect keys, so it is not used.',
      param(error, 'backend')
    ),
  keyring_locked: trans =>
    trans.__('The system keyring is locked. Unlock it, then try again.'),
  keyring_not_set_up: trans =>
    trans.__(
      'The system keyring has not been set up, or the request to unlock it was dismissed. Log in to a desktop session once, or unlock it, then try again.'
    ),
  keyring_failed: (trans, error) =>
    trans.__(
      'The system keyring refused (%1). Try again.',
      param(error, 'error')
    ),
  keyring_unresponsive: (trans, error) =>
    trans.__(
      'The system keyring did not answer within %1 seconds. It may be waiting for you to unlock it. Unlock it, then try again.',
      param(error, 'seconds')
    ),
  passphrase_missing: trans =>
    trans.__(
      'An encrypted file needs a passphrase: set %1 before you start the server.',
      'HDSP_AGENT_PASSPHRASE'
    ),
  wrong_passphrase: (trans, error) =>
    trans.__(
      '%1 was encrypted with a different passphrase than the one in %2. Start the server with the right one, or move the file away and save the keys again.',
      param(error, 'path'),
      'HDSP_AGENT_PASSPHRASE'
    ),
  secrets_file_corrupt: (trans, error) =>
    trans.__(
      '%1 cannot be read. It is never overwritten: repair it or move it away, then try again.',
      param(error, 'path')
    )
};

/**
 * What the server says about the configuration.
 */
const CONFIGURATION: Readonly<Record<string, Sentence>> = {
  config_corrupt: (trans, error) =>
    trans.__(
      '%1 was changed and cannot be read (%2). The previous values still apply. Repair the file. If you change a setting first, the file is renamed, not overwritten.',
      param(error, 'path'),
      param(error, 'reason')
    ),
  config_set_aside: (trans, error) =>
    trans.__(
      '%1 could not be read (%2). It was renamed to %3, and nothing in it was changed. To use it again, repair it and rename it back.',
      param(error, 'path'),
      param(error, 'reason'),
      param(error, 'aside')
    ),
  setting_ignored: (trans, error) =>
    trans.__(
      'The value of %1 in config.json is not valid: %2. The default is used until you change it.',
      param(error, 'field'),
      reasonText(trans, param(error, 'reason'))
    ),
  profile_ignored: (trans, error) =>
    trans.__(
      'The profile “%1” in config.json is not an object and is ignored.',
      param(error, 'profile')
    ),
  key_in_config: (trans, error) =>
    param(error, 'profile')
      ? trans.__(
          'config.json contains a key in the profile “%1” (%2). It is not used there, and anyone who reads the file can see it. Remove it, and save the key in the settings.',
          param(error, 'profile'),
          param(error, 'keys')
        )
      : trans.__(
          'config.json contains a key (%1). It is not used there, and anyone who reads the file can see it. Remove it, and save the key in the settings.',
          param(error, 'keys')
        ),
  provider_retired: (trans, error) =>
    trans.__(
      'The provider %1 of the profile “%2” is no longer offered. Choose another provider.',
      param(error, 'provider'),
      param(error, 'profile')
    ),
  provider_unknown: (trans, error) =>
    trans.__(
      'This version does not know the provider %1 of the profile “%2”. Choose another provider.',
      param(error, 'provider'),
      param(error, 'profile')
    ),
  user_config_failed: (trans, error) =>
    trans.__(
      "Some defaults from this server's configuration service could not be used (%1). Your own settings apply. If this continues, tell your administrator.",
      param(error, 'reason')
    ),
  tokens_nearly_used: (trans, error) =>
    trans.__(
      'At least %1% of the budget of %2 tokens for models is used. It starts again on %3.',
      param(error, 'percent'),
      param(error, 'limit'),
      param(error, 'day')
    ),
  money_nearly_used: (trans, error) =>
    trans.__(
      'At least %1% of the budget of US$%2 for models is used. It starts again on %3.',
      param(error, 'percent'),
      param(error, 'limit'),
      param(error, 'day')
    ),
  keys_left_behind: (trans, error) =>
    trans.__(
      'Everything was reset, but saved keys could not be deleted: %1',
      error.message
    )
};

/**
 * What the server says about the conversations it keeps.
 */
const CONVERSATIONS: Readonly<Record<string, Sentence>> = {
  conversations_damaged: (trans, error) =>
    trans.__(
      'Some stored conversations have damaged lines (%1 in %2). Nothing was deleted, and everything else was read. Run “hdsp-agent doctor” to see where they are.',
      param(error, 'lines'),
      param(error, 'tasks')
    ),
  memory_unreadable: (trans, error) =>
    trans.__(
      'Some memory files cannot be read (%1), so conversations do not use them. See the Memory page, or run “hdsp-agent doctor”.',
      param(error, 'count')
    ),
  memory_changed_twice: (trans, error) =>
    trans.__(
      'Memory was changed on two servers at once (%1). Both versions are kept, one below the other. See the Memory page, and delete what you do not need.',
      param(error, 'count')
    ),
  memory_set_aside: (trans, error) =>
    trans.__(
      'Memory files were changed on two servers at once (%1). One version counts, and the other is in the folder %2 of your memory folder.',
      param(error, 'count'),
      param(error, 'folder')
    ),
  tasks_interrupted: (trans, error) =>
    trans.__(
      'Jupyter restarted, and %1 conversations were interrupted. Nothing was lost: open one to continue it.',
      param(error, 'tasks')
    ),
  conversations_elsewhere: (trans, error) =>
    trans.__(
      'Conversations kept in %1 are not shown (%2), because this server keeps conversations in %3. To copy them, run “hdsp-agent migrate --to %3”.',
      param(error, 'keptIn'),
      param(error, 'conversations'),
      param(error, 'used')
    ),
  messages_kept_apart: (trans, error) =>
    trans.__(
      'Some messages are not in the database, because another server continued their conversations. They are in %1. Delete those files when you no longer need them.',
      param(error, 'folder')
    ),
  storage_large: tooLarge,
  storage_critical: tooLarge
};

/**
 * Why the server knows no rule that would approve an action.
 */
const RULES: Readonly<Record<string, Sentence>> = {
  rule_always_asked: trans =>
    trans.__('Your administrator requires approval for every action.'),
  rule_commands_fixed: trans =>
    trans.__('Your administrator decides which commands are allowed.'),
  rule_settings_fixed: trans =>
    trans.__('Your administrator requires approval for actions of this kind.'),
  rule_denied: trans =>
    trans.__('One of your rules denies this command. It overrides all others.'),
  rule_any_command: trans =>
    trans.__(
      'This command can do anything, so no rule can allow it. The agent asks each time.'
    ),
  rule_none: trans =>
    trans.__('No rule can allow this. The agent asks each time.')
};

/**
 * What this page finds out by itself.
 */
const OWN: Readonly<Record<string, Sentence>> = {
  unreachable: trans =>
    trans.__(
      'The server cannot be reached. Check that Jupyter is still running, then try again.'
    ),
  login_expired: trans =>
    trans.__('You are no longer logged in. Reload the page to log in again.'),
  extension_missing: trans =>
    trans.__(
      'The server answers, but HDSP Agent is not running on it. Run “jupyter server extension list” to see why.'
    ),
  bad_answer: (trans, error) =>
    trans.__(
      'Something else answered instead of the server, perhaps a proxy: %1',
      error.message
    ),
  not_a_number: trans => trans.__('This is not a number. Nothing was changed.'),
  not_json: trans =>
    trans.__('This is not JSON yet. It is saved when it is correct.')
};

function forbidden(trans: TranslationBundle, error: ErrorLike): string {
  const provider = param(error, 'provider');
  const mode = param(error, 'mode');
  if (provider) {
    return trans.__(
      'Your administrator does not allow the provider %1.',
      provider
    );
  }
  return mode
    ? trans.__('Your administrator does not allow the mode %1.', mode)
    : trans.__('Your administrator set this for everyone.');
}

function tooLarge(trans: TranslationBundle, error: ErrorLike): string {
  return trans.__(
    'Stored conversations use %1 GB, more than %2 GB. Delete some in the history, or change the storage settings to delete them sooner.',
    param(error, 'gigabytes'),
    param(error, 'limit')
  );
}

const SENTENCES: Readonly<Record<string, Sentence>> = {
  ...SERVER_ERRORS,
  ...KEY_STORAGE,
  ...CONFIGURATION,
  ...CONVERSATIONS,
  ...RULES,
  ...OWN
};

function param(error: ErrorLike, name: string): string {
  const value = error.params?.[name];
  return typeof value === 'string' || typeof value === 'number'
    ? String(value)
    : '';
}
