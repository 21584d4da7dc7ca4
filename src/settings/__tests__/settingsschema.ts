import type { JSONObject } from '@lumino/coreutils';

import type { ProviderInfo } from '../../generated/rest';

interface ISchemas {
  globalSettings: JSONObject;
  providerSettings: JSONObject;
  providers: ProviderInfo[];
}

// As JSON, because that is how the server sends it.
const schema = JSON.parse(`{
  "globalSettings": {
    "x-groups": [
      {
        "id": "approvals",
        "title": "Approvals"
      },
      {
        "id": "ui",
        "title": "Appearance"
      },
      {
        "id": "empty",
        "title": "Nothing in here"
      }
    ],
    "properties": {
      "language": {
        "anyOf": [
          {
            "type": "string",
            "oneOf": [
              {
                "const": "en",
                "title": "English"
              },
              {
                "const": "ko",
                "title": "한국어"
              }
            ]
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Language of answers",
        "description": "Empty follows JupyterLab.",
        "x-group": "ui",
        "x-order": 4
      },
      "autoApprovalEnabled": {
        "type": "boolean",
        "default": false,
        "title": "Approve automatically",
        "description": "The main switch.",
        "x-group": "approvals",
        "x-order": 0
      },
      "checkpointTimeout": {
        "type": "integer",
        "default": 15,
        "minimum": 10,
        "maximum": 60,
        "title": "Longest wait",
        "x-group": "approvals",
        "x-order": 1,
        "x-advanced": true
      },
      "allowedMaxCost": {
        "anyOf": [
          {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 1000
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Most cost",
        "x-group": "approvals",
        "x-order": 2
      },
      "allowedCommands": {
        "type": "array",
        "items": {
          "type": "string"
        },
        "default": ["git log"],
        "title": "Allowed commands",
        "x-group": "approvals",
        "x-order": 3
      },
      "maskedKinds": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Kind"
        },
        "default": ["jwt", "email"],
        "title": "Masked",
        "x-group": "ui",
        "x-order": 5
      },
      "customInstructions": {
        "anyOf": [
          {
            "type": "string",
            "maxLength": 100000
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Instructions",
        "x-group": "ui",
        "x-order": 6
      },
      "experiments": {
        "type": "object",
        "title": "Experiments",
        "x-group": "ui",
        "x-order": 7
      },
      "seen": {
        "type": "boolean",
        "title": "Seen",
        "x-group": "ui",
        "x-hidden": true,
        "x-order": 8
      },
      "secretStorage": {
        "type": "string",
        "oneOf": [
          {
            "const": "auto",
            "title": "The safest"
          },
          {
            "const": "file",
            "title": "A file"
          }
        ],
        "default": "auto",
        "title": "Where keys are kept",
        "x-group": "ui",
        "x-order": 9
      }
    },
    "$defs": {
      "Kind": {
        "type": "string",
        "oneOf": [
          {
            "const": "jwt",
            "title": "Web tokens"
          },
          {
            "const": "email",
            "title": "E-mail addresses"
          }
        ]
      }
    }
  },
  "providerSettings": {
    "x-groups": [
      {
        "id": "connection",
        "title": "Connection"
      }
    ],
    "properties": {
      "apiProvider": {
        "anyOf": [
          {
            "type": "string",
            "oneOf": [
              {
                "const": "anthropic",
                "title": "Anthropic"
              },
              {
                "const": "ollama",
                "title": "Ollama"
              },
              {
                "const": "fake-ai",
                "title": "For tests"
              }
            ]
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Provider",
        "x-group": "connection",
        "x-order": 0
      },
      "apiModelId": {
        "anyOf": [
          {
            "type": "string"
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Model",
        "x-group": "connection",
        "x-providers": ["anthropic"],
        "x-order": 1
      },
      "apiKey": {
        "anyOf": [
          {
            "type": "string",
            "writeOnly": true
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Anthropic API key",
        "x-group": "connection",
        "x-providers": ["anthropic"],
        "x-secret": true,
        "x-order": 2
      },
      "ollamaBaseUrl": {
        "anyOf": [
          {
            "type": "string",
            "maxLength": 2000
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Base URL",
        "x-group": "connection",
        "x-providers": ["ollama"],
        "x-order": 3
      },
      "thinking": {
        "anyOf": [
          {
            "type": "boolean"
          },
          {
            "type": "null"
          }
        ],
        "default": null,
        "title": "Thinking",
        "x-group": "connection",
        "x-order": 4
      }
    }
  },
  "providers": [
    {
      "id": "anthropic",
      "name": "Anthropic",
      "modelField": "apiModelId",
      "keyField": "apiKey"
    },
    {
      "id": "ollama",
      "name": "Ollama",
      "modelField": "ollamaModelId"
    },
    {
      "id": "fake-ai",
      "name": "For tests",
      "hidden": true
    }
  ]
}`) as ISchemas;

/**
 * A small schema with one field of every kind, in the form the server sends.
 */
export const GLOBAL_SCHEMA = schema.globalSettings;

/**
 * The settings of a profile, for two providers.
 */
export const PROVIDER_SCHEMA = schema.providerSettings;

/**
 * Whose models there are.
 */
export const PROVIDERS = schema.providers;

const search = JSON.parse(`{
  "searchByMeaning": {
    "type": "string",
    "oneOf": [
      { "const": "off", "title": "No" },
      { "const": "bundled", "title": "With the extra" },
      { "const": "endpoint", "title": "With my endpoint" }
    ],
    "default": "bundled",
    "title": "Search by meaning too",
    "x-group": "search",
    "x-order": 20
  },
  "searchEndpointUrl": {
    "anyOf": [{ "type": "string", "maxLength": 2000 }, { "type": "null" }],
    "default": null,
    "title": "Address of the embeddings endpoint",
    "description": "Passages are sent there.",
    "x-group": "search",
    "x-order": 21
  },
  "searchEndpointApiKey": {
    "anyOf": [{ "type": "string", "writeOnly": true }, { "type": "null" }],
    "default": null,
    "title": "Key for the embeddings endpoint",
    "x-group": "search",
    "x-secret": true,
    "x-order": 22
  }
}`) as JSONObject;

/**
 * The schema with the settings for searching the past.
 */
export const WITH_SEARCH: JSONObject = {
  ...GLOBAL_SCHEMA,
  properties: { ...(GLOBAL_SCHEMA.properties as JSONObject), ...search }
};
