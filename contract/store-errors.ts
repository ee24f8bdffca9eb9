import type { Language } from './languages.ts'

export type ErrorEntry = {
  status: number
  title: string
  detail: Record<Language, string>
  /** For a store's developer, replaces a `detail` that addresses a shopper; see `detailForStores`. */
  forStores?: Record<Language, string>
}

/** The refusals that only calls of stores return. */
export const STORE_ERRORS = {
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    detail: {
      en: 'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
      ru: 'Ключ API не указан или недействителен. Передайте его как "Authorization: Bearer <ключ>".',
    },
  },
  scope_missing: {
    status: 403,
    title: 'Not allowed for this key',
    detail: {
      en: 'This API key{key} lacks the scope {asked}. Use a key that has it, or ask the operator for one.',
      ru: 'У этого ключа API{key} нет права {asked}. Используйте ключ с этим правом или запросите его у оператора.',
    },
  },
  order_conflict: {
    status: 409,
    title: 'Order id already used',
    detail: {
      en: 'A deposit with this externalId already exists and was created with other values of {asked}. Use a new externalId, or send the same values as the first time.',
      ru: 'Пополнение с таким externalId уже создано с другими значениями: {asked}. Используйте новый externalId или передайте те же значения, что и в первый раз.',
    },
  },
  idempotency_in_progress: {
    status: 409,
    title: 'First call still running',
    detail: {
      en: 'The first call with this Idempotency-Key has not ended yet. Repeat it in a second.',
      ru: 'Первый вызов с этим Idempotency-Key ещё выполняется. Повторите через секунду.',
    },
  },
  deposit_busy: {
    status: 409,
    title: 'An offer is being sent',
    detail: {
      en: 'An offer of this deposit is being sent right now. Repeat this call in a few seconds.',
      ru: 'По этому пополнению прямо сейчас отправляется предложение обмена. Повторите вызов через несколько секунд.',
    },
  },
  not_cancellable: {
    status: 409,
    title: 'Cannot be cancelled',
    detail: {
      en: 'The shopper has accepted the offer, or the deposit has ended: there is nothing left to cancel.',
      ru: 'Покупатель принял обмен, или пополнение завершено: отменять уже нечего.',
    },
  },
  too_many_endpoints: {
    status: 409,
    title: 'Too many webhook endpoints',
    detail: {
      en: 'A store has at most 10 webhook endpoints. Change or remove an existing one.',
      ru: 'У магазина не больше 10 адресов для веб-хуков. Измените или удалите один из имеющихся.',
    },
  },
  endpoint_disabled: {
    status: 409,
    title: 'Webhook endpoint disabled',
    detail: {
      en: 'This webhook endpoint is disabled. Enable it first.',
      ru: 'Этот адрес для веб-хуков отключён. Сначала включите его.',
    },
  },
  endpoint_unproved: {
    status: 409,
    title: 'Webhook endpoint not proved',
    detail: {
      en: 'This address has not repeated the challenge of a test. Answer "webhook.test" with its data.challenge. Then test the endpoint again, or repeat the change of its address.',
      ru: 'Этот адрес не повторил проверочное значение. Ответьте на "webhook.test" значением data.challenge. Затем повторите проверку или смену адреса.',
    },
  },
  replay_in_progress: {
    status: 409,
    title: 'Replay in progress',
    detail: {
      en: 'Events of your last replay are still waiting to be sent. Repeat this call afterwards.',
      ru: 'События прошлой повторной отправки ещё ждут своей очереди. Повторите вызов, когда они будут отправлены.',
    },
  },
  cursor_ahead: {
    status: 409,
    title: 'Cursor ahead of the event log',
    detail: {
      en: 'Your event log does not reach that far: the till may have been restored from a backup. Keep your cursor and repeat this call. "epoch.started" will tell you what was lost.',
      ru: 'Ваш журнал событий ещё не дошёл до этого номера: возможно, касса восстановлена из резервной копии. Сохраните свою позицию и повторите вызов; событие "epoch.started" сообщит, что потеряно.',
    },
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key used for another call',
    detail: {
      en: 'This Idempotency-Key was used for a call with other values. Use a new one for each call.',
      ru: 'Этот Idempotency-Key уже использован для вызова с другими значениями. Для каждого вызова нужен новый ключ.',
    },
  },
  store_disabled: {
    status: 403,
    title: 'Store disabled',
    detail: {
      en: 'The operator has disabled your store, so it cannot open deposits. Existing ones continue. Ask the operator.',
      ru: 'Оператор отключил ваш магазин: новые пополнения не создаются. Начатые продолжаются. Обратитесь к оператору.',
    },
  },
  too_many_deposits: {
    status: 429,
    title: 'Too many open deposits',
    detail: {
      en: 'Your store has reached the operator’s limit of open deposits. Cancel those that will not be paid, let new ones expire sooner (expiresInMinutes), or ask the operator for a higher limit.',
      ru: 'У магазина столько открытых пополнений, сколько разрешил оператор. Отмените ненужные, задавайте новым меньший срок (expiresInMinutes) или попросите оператора увеличить лимит.',
    },
  },
  replay_quota: {
    status: 429,
    title: 'Too many replays today',
    detail: {
      en: 'A store can replay at most 50,000 deliveries in 24 hours. Read the event log instead (GET /v1/events), or try again later.',
      ru: 'Магазин может повторить не больше 50 000 отправок за 24 часа. Прочитайте журнал событий (GET /v1/events) или повторите позже.',
    },
  },
  too_many_tests: {
    status: 429,
    title: 'Too many tests',
    detail: {
      en: 'Two tests of your webhook endpoints are already running. Repeat this call when one of them has ended.',
      ru: 'Две проверки ваших адресов для веб-хуков уже идут. Повторите вызов, когда одна из них закончится.',
    },
  },
} as const satisfies Record<string, ErrorEntry>
