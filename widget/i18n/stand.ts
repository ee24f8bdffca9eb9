/**
 * The texts of the stand (the shopper's items and the payment), loaded with it. The requirements fix some titles of
 * the errors: texts.test.ts lists these.
 */
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import type { PayBlock } from '../flow/selectors.ts'
import type { InventoryFailure, Sort } from '../flow/state.ts'
import { itemTexts } from './items.ts'
import { countEn, countRu } from './plural.ts'
import type { ErrorText } from './rest.ts'

/** The same in every language. */
const GAME_NAMES = { cs: 'CS2', dota: 'Dota 2', rust: 'Rust', tf: 'TF2' } satisfies Record<Game, string>

const en = {
  ...itemTexts.en,
  /** Leaves out the lowest accepted price, because `tooCheap` states it. */
  alsoNeeded: 'We accept items that are popular among players and free of trade restrictions.',
  game: 'Game',
  games: GAME_NAMES,
  onlyGames: (games: string) => `This payment only accepts items from ${games}.`,
  kept: (picks: string) => `Your picks are kept: ${picks}. A payment can only take items from one game.`,
  keptIn: (n: number, game: string) => `${n} in ${game}`,
  search: 'Search items',
  searchOpen: 'Open search',
  searchClose: 'Close search',
  sort: 'Sort',
  sorts: {
    default: 'Newest first',
    priceDown: 'Price: high to low',
    priceUp: 'Price: low to high',
  } satisfies Record<Sort, string>,
  reload: 'Reload the inventory',
  inventory: 'Inventory',
  inventoryKeys:
    'Arrow keys move, Space picks, plus and minus take more or fewer of a stack, Shift picks a range, Ctrl+A picks all, ? explains the price.',
  takenOf: (taken: number, count: number) => `${taken} of ${count} selected`,
  /** `face`: the visible text of the button. */
  takeAll: (face: string, name: string) => `${face}, take all: ${name}`,
  oneMore: (name: string) => `One more: ${name}`,
  oneFewer: (name: string) => `One fewer: ${name}`,
  whyPrice: (price: string) => `Why ${price}?`,
  whyPriceOf: (price: string, name: string) => `Why ${price}: ${name}`,
  whyPriceAsking: 'Looking it up…',
  whyPriceUnknown: 'We couldn’t look up this price. Reload the inventory and ask again.',
  whyPriceNote: (sources: number): string =>
    sources > 1
      ? 'Our price is what these sources agree on, less what it costs us to sell the item.'
      : 'Our price is the price of this source, less what it costs us to sell the item.',
  ownList: 'Our own price list',
  ownPrice: 'Our own price',
  exchangeRate: 'Exchange rate',
  saidAgo: (minutes: number) => {
    if (minutes < 1) return 'less than a minute ago'
    if (minutes < 120) return `${countEn(minutes, 'minute', 'minutes')} ago`
    return `${countEn(Math.floor(minutes / 60), 'hour', 'hours')} ago`
  },
  nothingFound: (search: string) => `No items match “${search}”`,
  nothingFoundUsable: (search: string, items: string) =>
    `No item that matches “${search}” can be used: ${items}`,
  searchClear: 'Clear the search',
  nothingUsable: 'None of these items can be used',
  nothingUsableHint: 'Choose another game, or see below why these can’t be used.',
  nothingUsableHere: 'See below why. You can pay another way in the store.',
  gameCount: (game: string, n: number) => `${game}: ${countEn(n, 'item', 'items')}`,
  itemAge: (minutes: number) => `Inventory from ${countEn(minutes, 'minute', 'minutes')} ago`,
  unavailable: (n: number) => `${countEn(n, 'more item', 'more items')} can’t be used`,
  unavailableReasons: {
    notTradable: 'not tradable',
    tradeHold: 'held by Steam for now',
    tradeProtected: 'under Steam’s trade protection',
    stack: 'in a stack: only single items are taken',
    unknownItem: 'without details from Steam',
    notMarketable: 'not sellable on Steam’s market',
    noOwnPrice: 'unusual or not usable in crafting, so without a price of its own',
    noPrice: 'without a reliable price right now',
    notPopular: 'sold too rarely',
    tooCheap: 'worth $0.10 or less',
    inAnotherTrade: 'in another trade',
  } satisfies Record<UnavailableReason, string>,
  firstFree: (date: string) => `The first becomes tradable on ${date}.`,
  summary: 'Your payment',
  minimum: 'Minimum',
  maximum: 'Maximum',
  selected: 'Selected',
  selectedCount: (n: number) => `Selected: ${n}`,
  total: 'Total',
  pay: 'Add funds',
  clear: 'Clear',
  clearAll: 'Clear the selection',
  clearUndo: 'Undo',
  clearUndoAll: (n: number) => `Undo: select ${countEn(n, 'item', 'items')} again`,
  payAmount: (amount: string) => `Add funds · ${amount}`,
  payMissing: (amount: string) => `Add ${amount} more`,
  payTooMuch: (amount: string) => `Remove ${amount}`,
  whyLater: (days: number, game: string) =>
    `Steam allows ${game} trades to be reversed for some days, so the store gets the money ${countEn(days, 'day', 'days')} after your items arrive.`,
  whyParts: (days: number, game: string) =>
    `Steam allows ${game} trades to be reversed for some days. For ${countEn(days, 'day', 'days')} a store gets money only up to its limit. You may get more now; the offer will say.`,
  whyLimit: (days: number, game: string) =>
    `Steam allows ${game} trades to be reversed for some days. For ${countEn(days, 'day', 'days')} a store gets money only up to its limit, which is used up right now. So the whole amount comes later.`,
  whyExpected: (days: number, game: string) =>
    `All of it should come now; the offer tells you before you accept. Steam allows ${game} trades to be reversed for some days, so other payments can delay a part by ${countEn(days, 'day', 'days')}.`,
  whyNow: (game: string) => `Nothing is held for ${game}: the store gets all of it once your items arrive.`,
  payFixed: 'Pressing fixes the amount. If prices change before that, we’ll ask again.',
  target: 'To pay',
  pickForMe: 'Pick for me',
  pickOpen: 'Pick for me',
  pickItemsFor: (amount: string) => `Pick items for ${amount}`,
  pickAmount: 'Amount',
  pickGo: 'Pick',
  pickHint: 'We pick items worth your amount, or as little more as possible.',
  pickSearching: 'Picking…',
  pickExact: 'Picked: exactly this amount.',
  pickOver: (over: string) => `Picked: ${over} more than this amount.`,
  pickLeast: (least: string, total: string) => `The minimum payment is ${least}. Picked: ${total}.`,
  pickMost: (most: string, total: string) => `The maximum payment is ${most}. Picked: ${total}.`,
  pickShort: (reach: string) => `Your items come to ${reach} at most in one offer.`,
  pickNone: 'No combination of your items fits the limit.',
  pickTarget: 'Your amount',
  pickLeastTarget: 'Minimum payment',
  pickMostTarget: 'Maximum payment',
  targetReached: (have: string, wanted: string) => `${have} of ${wanted}`,
  announceSelection: (n: number, total: string) => `${n} selected, ${total}`,
  payBlocks: {
    loading: () => 'The inventory is loading.',
    minimumAboveMaximum: (limit: string, most: string) =>
      `The minimum payment with this game is ${limit}, but this payment is for ${most} at most. Choose another game, or pay another way in the store.`,
    outOfReach: (limit: string, reach: string) =>
      `These items come to ${reach} at most, which is below the minimum payment of ${limit}. Choose another game, or pay another way in the store.`,
    nothingPicked: (limit: string) => `Choose items worth at least ${limit}.`,
    belowMinimum: (limit: string) => `The minimum payment is ${limit}. Add more items.`,
    aboveMaximum: (limit: string) => `That’s over the ${limit} limit. Remove some items.`,
  } satisfies Record<PayBlock, (limit: string, most: string) => string>,
  atMost: (limit: string) => `At most ${limit}.`,
  backToOffer: 'Back to your offer',
  inventoryErrors: {
    internal: {
      title: 'Failed to get your inventory',
      description: 'Try again later or contact support. Your items are safe.',
    },
    tradeNotAvailable: {
      title: 'Trade is not available',
      description: 'There are no items to trade; you probably don’t own this game.',
    },
    accountRestricted: {
      title: 'Trade is not available',
      description:
        'Steam doesn’t let this account trade right now: it may be limited, signed in on a new device, or banned from trading. Your items stay yours.',
    },
    hidden: {
      title: 'Your inventory is hidden',
      description: 'In Steam’s privacy settings switch “Inventory” to Open (Public), then try again.',
    },
    escrow: {
      title: 'Trade restrictions',
      description:
        'Your account has not yet been protected by the mobile authenticator for 7 days, so Steam would delay the transfer. Turn it on, and come back 7 days after that.',
    },
    invalidPartner: {
      title: 'Incorrect Trade URL',
      description: 'Your trade link has expired or is incomplete. Copy it again from Steam’s trade settings.',
    },
    engineeringWorks: {
      title: 'Technical works',
      description:
        'Steam or our bots are unavailable right now. Your items are safe; try again in a few minutes.',
    },
    tooManyLooks: {
      title: 'Too many requests to Steam',
      description:
        'This page asked Steam too often. Your items are safe; wait a few minutes, then try again.',
    },
    gameNotAccepted: {
      title: 'The store doesn’t accept this game',
      description: 'Your items are safe. Choose a game that the store accepts.',
    },
  } satisfies Record<InventoryFailure, ErrorText>,
}

export type StandTexts = typeof en

const ru: StandTexts = {
  ...itemTexts.ru,
  alsoNeeded: 'Подходят предметы, популярные среди игроков и без ограничений на обмен.',
  games: GAME_NAMES,
  game: 'Игра',
  onlyGames: (games) => `Для этого платежа подходят только предметы из ${games}.`,
  kept: (picks) => `Ваш выбор сохранён: ${picks}. За один платёж — предметы одной игры.`,
  keptIn: (n, game) => `${game} — ${n}`,
  search: 'Поиск предметов',
  searchOpen: 'Открыть поиск',
  searchClose: 'Закрыть поиск',
  sort: 'Сортировка',
  sorts: {
    default: 'Сначала новые',
    priceDown: 'Цена: по убыванию',
    priceUp: 'Цена: по возрастанию',
  },
  reload: 'Обновить инвентарь',
  inventory: 'Инвентарь',
  inventoryKeys:
    'Стрелки — перейти, пробел — выбрать, плюс и минус — больше или меньше из стопки, Shift — выбрать до этого места, Ctrl+A — выбрать все, ? — почему такая цена.',
  takenOf: (taken, count) => `выбрано ${taken} из ${count}`,
  takeAll: (face, name) => `${face}, взять все: ${name}`,
  oneMore: (name) => `Ещё один: ${name}`,
  oneFewer: (name) => `На один меньше: ${name}`,
  whyPrice: (price) => `Почему ${price}?`,
  whyPriceOf: (price, name) => `Почему ${price}: ${name}`,
  whyPriceAsking: 'Узнаём…',
  whyPriceUnknown: 'Причину этой цены узнать не удалось. Обновите инвентарь и спросите снова.',
  whyPriceNote: (sources) =>
    sources > 1
      ? 'Наша цена — то, в чём сходятся эти источники, за вычетом расходов на продажу предмета.'
      : 'Наша цена — цена этого источника за вычетом расходов на продажу предмета.',
  ownList: 'Наш список цен',
  ownPrice: 'Наша цена',
  exchangeRate: 'Курс валют',
  saidAgo: (minutes) => {
    if (minutes < 1) return 'меньше минуты назад'
    if (minutes < 120) return `${countRu(minutes, 'минуту', 'минуты', 'минут')} назад`
    return `${countRu(Math.floor(minutes / 60), 'час', 'часа', 'часов')} назад`
  },
  nothingFound: (search) => `По запросу «${search}» ничего не нашлось`,
  nothingFoundUsable: (search, items) => `Ни один предмет по запросу «${search}» не подходит: ${items}`,
  searchClear: 'Сбросить поиск',
  nothingUsable: 'Ни один из ваших предметов здесь не подходит',
  nothingUsableHint: 'Выберите другую игру или посмотрите ниже, почему предметы не подходят.',
  nothingUsableHere: 'Ниже указано, почему предметы не подходят. В магазине можно заплатить иначе.',
  gameCount: (game, n) => `${game}: ${countRu(n, 'предмет', 'предмета', 'предметов')}`,
  itemAge: (minutes) => `Инвентарь получен ${countRu(minutes, 'минуту', 'минуты', 'минут')} назад`,
  unavailable: (n) =>
    `Ещё ${countRu(n, 'предмет не подходит', 'предмета не подходят', 'предметов не подходят')}`,
  unavailableReasons: {
    notTradable: 'нельзя передать',
    tradeHold: 'пока удерживает Steam',
    tradeProtected: 'под защитой обмена Steam',
    stack: 'в стопке: принимаются только отдельные предметы',
    unknownItem: 'без описания от Steam',
    notMarketable: 'нельзя продать на торговой площадке Steam',
    noOwnPrice: 'необычного типа или не для ковки, поэтому без своей цены',
    noPrice: 'сейчас без надёжной цены',
    notPopular: 'с редкими продажами',
    tooCheap: 'не дороже 0,10 $',
    inAnotherTrade: 'в другом обмене',
  },
  firstFree: (date) => `Первый можно будет передать ${date}.`,
  summary: 'Ваш платёж',
  minimum: 'Минимум',
  maximum: 'Максимум',
  selected: 'Выбрано',
  selectedCount: (n) => `Выбрано: ${n}`,
  total: 'Итого',
  pay: 'Пополнить',
  clear: 'Очистить',
  clearAll: 'Снять выбор со всех предметов',
  clearUndo: 'Вернуть',
  clearUndoAll: (n) => `Вернуть выбор: ${countRu(n, 'предмет', 'предмета', 'предметов')}`,
  payAmount: (amount) => `Пополнить · ${amount}`,
  payMissing: (amount) => `Добавьте ещё ${amount}`,
  payTooMuch: (amount) => `Уберите ${amount}`,
  whyLater: (days, game) =>
    `Steam позволяет отменить обмен в ${game} ещё несколько дней, поэтому деньги магазин получит через ${countRu(days, 'день', 'дня', 'дней')}.`,
  whyParts: (days, game) =>
    `Steam позволяет отменить обмен в ${game} ещё несколько дней. В течение ${countRu(days, 'дня', 'дней', 'дней')} магазин получает деньги только в пределах лимита. Точную сумму покажет предложение.`,
  whyLimit: (days, game) =>
    `Steam позволяет отменить обмен в ${game} ещё несколько дней. В течение ${countRu(days, 'дня', 'дней', 'дней')} магазин получает деньги только в пределах лимита, а сейчас он исчерпан. Поэтому вся сумма придёт позже.`,
  whyExpected: (days, game) =>
    `Ожидаем всё сейчас; точно покажет предложение. Steam позволяет отменить обмен в ${game} ещё несколько дней, поэтому другие платежи могут отложить часть на ${countRu(days, 'день', 'дня', 'дней')}.`,
  whyNow: (game) => `Для ${game} ничего не удерживается: магазин получит всю сумму, когда придут предметы.`,
  pickForMe: 'Подобрать за меня',
  pickOpen: 'Подбор',
  pickItemsFor: (amount) => `Подобрать предметы на ${amount}`,
  pickAmount: 'Сумма',
  pickGo: 'Подобрать',
  pickHint: 'Подберём предметы на вашу сумму или чуть дороже.',
  pickSearching: 'Подбираем…',
  pickExact: 'Подобрано: ровно эта сумма.',
  pickOver: (over) => `Подобрано: на ${over} больше этой суммы.`,
  pickLeast: (least, total) => `Минимальный платёж — ${least}. Подобрано: ${total}.`,
  pickMost: (most, total) => `Максимальный платёж — ${most}. Подобрано: ${total}.`,
  pickShort: (reach) => `В одно предложение войдут ваши предметы не больше чем на ${reach}.`,
  pickNone: 'Из ваших предметов не выбрать сумму в пределах лимита.',
  pickTarget: 'Ваша сумма',
  pickLeastTarget: 'Минимальный платёж',
  pickMostTarget: 'Максимальный платёж',
  payFixed: 'Нажатие закрепит сумму. Если цены изменятся раньше, мы спросим снова.',
  target: 'К оплате',
  targetReached: (have, wanted) => `${have} из ${wanted}`,
  announceSelection: (n, total) => `Выбрано: ${n}, ${total}`,
  payBlocks: {
    loading: () => 'Инвентарь загружается.',
    minimumAboveMaximum: (limit, most) =>
      `Минимальный платёж предметами этой игры — ${limit}, а этот платёж — не больше ${most}. Выберите другую игру или заплатите в магазине иначе.`,
    outOfReach: (limit, reach) =>
      `Все эти предметы стоят не больше ${reach}, а минимальный платёж — ${limit}. Выберите другую игру или заплатите в магазине иначе.`,
    nothingPicked: (limit) => `Выберите предметы на сумму от ${limit}.`,
    belowMinimum: (limit) => `Минимальный платёж — ${limit}. Добавьте предметы.`,
    aboveMaximum: (limit) => `Это больше лимита в ${limit}. Уберите часть предметов.`,
  },
  atMost: (limit) => `Не больше ${limit}.`,
  backToOffer: 'К предложению',
  inventoryErrors: {
    internal: {
      title: 'Не удалось получить инвентарь',
      description: 'Попробуйте позже или обратитесь в поддержку. Ваши предметы в безопасности.',
    },
    tradeNotAvailable: {
      title: 'Обмен недоступен',
      description: 'Нет предметов для обмена; вероятно, у вас нет этой игры.',
    },
    accountRestricted: {
      title: 'Обмен недоступен',
      description:
        'Steam сейчас не разрешает этому аккаунту обмен: возможно, он ограничен, вход выполнен с нового устройства или обмен запрещён. Предметы остаются вашими.',
    },
    hidden: {
      title: 'Ваш инвентарь скрыт',
      description: 'В настройках приватности Steam откройте «Инвентарь» для всех и попробуйте снова.',
    },
    escrow: {
      title: 'Ограничения обмена',
      description:
        'Аккаунт не был защищён мобильным аутентификатором 7 дней, поэтому Steam задержит передачу. Включите его и возвращайтесь через 7 дней.',
    },
    invalidPartner: {
      title: 'Неверная ссылка на обмен',
      description:
        'Ваша ссылка на обмен неполная или больше не действует. Скопируйте её заново в настройках обмена Steam.',
    },
    engineeringWorks: {
      title: 'Технические работы',
      description:
        'Steam или наши боты ненадолго недоступны. Предметы в безопасности; попробуйте через несколько минут.',
    },
    tooManyLooks: {
      title: 'Слишком много обращений к Steam',
      description:
        'Эта страница слишком часто обращалась к Steam. Предметы в безопасности; подождите несколько минут и повторите.',
    },
    gameNotAccepted: {
      title: 'Магазин не принимает эту игру',
      description: 'Ваши предметы в безопасности. Выберите игру, предметы которой магазин принимает.',
    },
  },
}

export const standTexts: Record<Language, StandTexts> = { en, ru }
