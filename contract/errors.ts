import type { Language } from './languages.ts'
import { type ErrorEntry, STORE_ERRORS } from './store-errors.ts'

/**
 * Every refusal of a call from the shopper's page or a store (RFC 9457 problem JSON, `code` is the key). `detail` says
 * what is wrong and, if the reader can do something, what to do, in the language of the call. The specification fixes
 * the first words of some details and the title 'Technical works'. In
 * widget/i18n/texts.test.ts, tests with these labels check only the page's own texts, not these.
 */
export const ERRORS = {
  ...STORE_ERRORS,
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    detail: {
      en: 'The request is not in the expected form. See "errors" for the fields to correct.',
      ru: 'Запрос составлен неверно. Поля, которые нужно исправить, перечислены в "errors".',
    },
  },
  invalid_trade_link: {
    status: 400,
    title: 'Invalid trade link',
    detail: {
      en: 'This is not a Steam trade link. Copy the whole link from the trade settings of your Steam inventory.',
      ru: 'Это не ссылка на обмен Steam. Скопируйте ссылку целиком из настроек обмена в инвентаре Steam.',
    },
  },
  https_required: {
    status: 400,
    title: 'Only over https',
    detail: {
      en: 'This till answers over https only. Use its https address.',
      ru: 'Эта касса отвечает только по https. Используйте её адрес с https.',
    },
  },
  cross_site_token: {
    status: 403,
    title: 'Cross-site token missing',
    detail: {
      en: 'The page lost its protection token. Allow cookies for this site and try again.',
      ru: 'Страница потеряла защитный токен. Разрешите файлы cookie для этого сайта и повторите попытку.',
    },
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: { en: 'There is nothing at this address.', ru: 'По этому адресу ничего нет.' },
    forStores: {
      en: 'The store of this API key{key} has no webhook endpoint or event with {asked}. Check this value, and check that the key belongs to the right store.',
      ru: 'У магазина с этим ключом API{key} нет адреса для веб-хуков или события с {asked}. Проверьте это значение и то, что ключ принадлежит нужному магазину.',
    },
  },
  deposit_not_found: {
    status: 404,
    title: 'Deposit not found',
    detail: {
      en: 'Failed to find your payment. Go back to the store and start again.',
      ru: 'Не удалось найти ваш платёж. Вернитесь в магазин и начните заново.',
    },
    forStores: {
      en: 'The store of this API key{key} has no deposit with {asked}. Check this value, and check that the key belongs to the store that created the deposit.',
      ru: 'У магазина с этим ключом API{key} нет пополнения с {asked}. Проверьте это значение и то, что ключ принадлежит магазину, который создал пополнение.',
    },
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: {
      en: 'This address does not support this method.',
      ru: 'Этот адрес не принимает такой метод запроса.',
    },
  },
  game_not_accepted: {
    status: 409,
    title: 'Game not accepted',
    detail: {
      en: 'The store does not accept items of this game here. Choose another game.',
      ru: 'Магазин не принимает здесь предметы этой игры. Выберите другую игру.',
    },
  },
  deposit_closed: {
    status: 409,
    title: 'Deposit closed',
    detail: {
      en: 'This deposit is already closed. Go back to the store and start a new one.',
      ru: 'Это пополнение уже закрыто. Вернитесь в магазин и начните новое.',
    },
  },
  trade_in_progress: {
    status: 409,
    title: 'Trade in progress',
    detail: {
      en: 'This deposit already has an open trade with other items.',
      ru: 'По этому пополнению уже идёт обмен с другими предметами.',
    },
  },
  other_shopper: {
    status: 409,
    title: 'Another Steam account expected',
    detail: {
      en: 'This payment is for another Steam account. Use the trade link of the account with which you signed in to the store.',
      ru: 'Этот платёж предназначен для другого аккаунта Steam. Укажите ссылку на обмен аккаунта, под которым вы вошли в магазин.',
    },
  },
  trade_link_missing: {
    status: 409,
    title: 'Trade link missing',
    detail: { en: 'Enter your trade link first.', ru: 'Сначала укажите ссылку на обмен.' },
  },
  too_many_open_offers: {
    status: 409,
    title: 'Too many open offers',
    detail: {
      en: 'This Steam account already has 2 open offers from us. Nothing was sent. Accept or decline one of them in Steam, then try again.',
      ru: 'У этого аккаунта Steam уже есть 2 наших открытых предложения обмена. Ничего не отправлено. Примите или отклоните одно из них в Steam и попробуйте снова.',
    },
  },
  offers_paused: {
    status: 409,
    title: 'Offers to this account are paused',
    detail: {
      en: 'The last offer to this Steam account was declined or not accepted in time, so the next one has to wait. Nothing was sent. Wait until the pause is over, then try again. The first pause lasts a minute, later ones up to 30 minutes.',
      ru: 'Последнее предложение этому аккаунту Steam было отклонено или не принято вовремя, поэтому следующее придётся подождать. Ничего не отправлено. Подождите, пока пауза закончится, и попробуйте снова. Первая пауза длится минуту, следующие — до 30 минут.',
    },
  },
  price_changed: {
    status: 409,
    title: 'Prices changed',
    detail: {
      en: 'Prices have changed since you opened the inventory. Reload it and choose again.',
      ru: 'Цены изменились с тех пор, как вы открыли инвентарь. Обновите его и выберите предметы снова.',
    },
  },
  items_unavailable: {
    status: 409,
    title: 'Items unavailable',
    detail: {
      en: 'Some of the items can no longer be used. Reload the inventory and choose again.',
      ru: 'Некоторые предметы больше нельзя использовать. Обновите инвентарь и выберите снова.',
    },
  },
  too_many_items: {
    status: 409,
    title: 'Too many items',
    detail: {
      en: 'You have chosen too many items to trade',
      ru: 'Вы выбрали слишком много предметов для обмена',
    },
  },
  below_minimum: {
    status: 409,
    title: 'Below the minimum',
    detail: {
      en: 'The total is below the minimum. Add more items.',
      ru: 'Сумма меньше минимальной. Добавьте ещё предметы.',
    },
  },
  above_maximum: {
    status: 409,
    title: 'Above the maximum',
    detail: {
      en: 'The total is above what this deposit accepts. Remove some items.',
      ru: 'Сумма больше, чем принимает это пополнение. Уберите часть предметов.',
    },
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: {
      en: 'Send JSON (application/json).',
      ru: 'Отправьте данные в формате JSON (application/json).',
    },
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    detail: { en: 'The request is larger than 64 KB.', ru: 'Запрос больше 64 КБ.' },
  },
  headers_too_large: {
    status: 431,
    title: 'Address or headers too large',
    detail: {
      en: 'The address and the headers of the request are larger than 16 KB together.',
      ru: 'Адрес и заголовки запроса вместе больше 16 КБ.',
    },
  },
  trade_refused: {
    status: 422,
    title: 'Trade refused by Steam',
    detail: {
      en: 'Failed to create trade. Check the trade link or try later; your Steam account may have restrictions.',
      ru: 'Не удалось создать обмен. Проверьте ссылку на обмен или попробуйте позже; возможны ограничения аккаунта Steam.',
    },
  },
  wrong_host: {
    status: 421,
    title: 'Wrong host',
    detail: {
      en: 'This till has another address. Use the one that the store gave you.',
      ru: 'Эта касса не отвечает под этим именем. Используйте адрес, который дал магазин.',
    },
    forStores: {
      en: 'This till has another address. Use the one that its operator gave you. A proxy in between must pass on the Host header unchanged.',
      ru: 'Эта касса не отвечает под этим именем. Используйте адрес, который дал её оператор. Прокси на пути к ней не должен изменять заголовок Host.',
    },
  },
  trade_hold: {
    status: 422,
    title: 'Steam would hold the trade',
    detail: {
      en: 'Steam would hold this trade for days, because your account has no mobile authenticator, or has had it for less than 7 days. Nothing was sent. Add Steam Guard in the Steam app, and pay with items after 7 days.',
      ru: 'Steam задержал бы этот обмен на несколько дней: мобильный аутентификатор вашего аккаунта не подключён или моложе 7 дней. Ничего не отправлено. Подключите Steam Guard в приложении Steam и платите предметами через 7 дней.',
    },
  },
  shopper_refused: {
    status: 422,
    title: 'Account not accepted',
    detail: {
      en: 'This Steam account cannot be used to pay here. Nothing was sent. Use another account, or go back to the store.',
      ru: 'Этим аккаунтом Steam здесь нельзя заплатить. Ничего не отправлено. Используйте другой аккаунт или вернитесь в магазин.',
    },
  },
  user_not_found: {
    status: 422,
    title: 'Steam account not found',
    detail: {
      en: 'Failed get user information. Steam does not know this account; check the trade link.',
      ru: 'Не удалось получить данные пользователя. Steam не знает такого аккаунта; проверьте ссылку на обмен.',
    },
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    detail: {
      en: 'Too many requests. Wait a moment and try again.',
      ru: 'Слишком много запросов. Подождите немного и попробуйте снова.',
    },
  },
  too_many_looks: {
    status: 429,
    title: 'Too many inventory reads',
    detail: {
      en: 'This payment has asked Steam too often in the last few minutes. Your items are safe. Wait a few minutes and try again.',
      ru: 'За последние минуты этот платёж слишком часто обращался к Steam. Ваши предметы в безопасности. Подождите несколько минут и попробуйте снова.',
    },
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: {
      en: 'Something went wrong on our side. Nothing is lost; try again in a moment.',
      ru: 'На нашей стороне произошла ошибка. Ничего не потеряно; попробуйте ещё раз через минуту.',
    },
  },
  overloaded: {
    status: 503,
    title: 'Too busy',
    detail: {
      en: 'We are too busy right now. Nothing is lost; try again in a few seconds.',
      ru: 'Сейчас слишком много запросов. Ничего не потеряно; попробуйте ещё раз через несколько секунд.',
    },
  },
  database_unavailable: {
    status: 503,
    title: 'Database unavailable',
    detail: {
      en: 'We cannot reach our data right now. Nothing is lost; try again in a few seconds.',
      ru: 'Сейчас наши записи недоступны. Ничего не потеряно; попробуйте ещё раз через несколько секунд.',
    },
  },
  steam_unavailable: {
    status: 503,
    title: 'Steam unavailable',
    detail: {
      en: 'Steam is not responding right now. Your items are safe; try again in a few minutes.',
      ru: 'Steam сейчас не отвечает. Ваши предметы в безопасности; попробуйте через несколько минут.',
    },
  },
  technical_works: {
    status: 503,
    title: 'Technical works',
    detail: {
      en: 'New trades are paused for technical works. Your items are safe; you can pay as soon as they are over.',
      ru: 'Новые обмены приостановлены на время технических работ. Предметы в безопасности; заплатить можно будет сразу после работ.',
    },
    forStores: {
      en: 'The till is paused until its operator has finished a restore. The call changed nothing; repeat it in a few minutes.',
      ru: 'Касса приостановлена, пока оператор не закончит восстановление из копии. Вызов ничего не изменил; повторите его через несколько минут.',
    },
  },
  no_bot_available: {
    status: 503,
    title: 'No bot available',
    detail: {
      en: 'No bot can take your items right now. Nothing was sent. Try again in a minute; if that does not help, go back to the store and pay later.',
      ru: 'Сейчас ни один бот не может принять предметы. Ничего не отправлено. Попробуйте через минуту; если не поможет, вернитесь в магазин и оплатите позже.',
    },
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

/**
 * The values for `forStores` texts. `key`: the id of the call's API key; omitted before the key is read, and in the API
 * reference, which describes no single call. `asked`: the part of the call that the text is about, such as `id 42`, the
 * name of a scope, or names of fields.
 */
export type AskedByStore = { key?: string | undefined; asked: string }

export function detailForStores(code: ErrorCode, language: Language, { key, asked }: AskedByStore): string {
  const { detail, forStores }: ErrorEntry = ERRORS[code]
  return (forStores ?? detail)[language]
    .replace('{key}', () => (key === undefined ? '' : ` (${key})`))
    .replace('{asked}', () => asked)
}

/**
 * Why Steam refused an offer, if its answer is unambiguous. `link_expired`: the token of the trade link is no longer
 * valid. `account_restricted`: the shopper's account cannot trade, for example because it is limited or its inventory
 * is private. `trade_ban`: it has a trade ban.
 */
export type RefusalCause = 'link_expired' | 'account_restricted' | 'trade_ban'

/** The body of a refused API call, sent as `application/problem+json`. */
export type Problem = {
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  /** Field by field, for `invalid_request` only. */
  errors?: { path: string; message: string }[]
  /** For `trade_refused` only; absent if the cause is unclear. */
  cause?: RefusalCause
  /** For `offers_paused` only: when the next offer may be sent, ISO 8601. */
  until?: string
}
