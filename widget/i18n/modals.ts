/**
 * The texts of the modals, loaded with them. The requirements fix the words “Failed to create trade” and “You
 * have chosen too many items to trade”.
 */
import type { Language } from '../../contract/languages.ts'
import type { FinalDepositStatus } from '../../contract/statuses.ts'
import { countEn, countRu, remainingRu } from './plural.ts'
import type { ErrorText } from './rest.ts'

const en = {
  confirmTitle: 'Accept the trade offer',
  confirmSummary: (n: number, amount: string) => `${countEn(n, 'item', 'items')} · ${amount}`,
  creatingTitle: 'Sending you a trade offer…',
  creatingText: 'Our bot is sending the offer on Steam. This takes a few seconds; your items stay yours.',
  /** The first request brought no result, or the page fails to read the payment. */
  creatingAgain: 'This is taking a little longer, so we’re trying again. Nothing has left your inventory.',
  creatingSlow:
    'This is taking longer than usual, but we’re still trying. Nothing has left your inventory. You can close this: if the offer is made, the page will show it.',
  timeLeftText: 'left to accept. Nothing leaves your inventory until you confirm.',
  amountFixed: 'The total is fixed while this offer is open, even if prices change.',
  timeUnknownText: 'Waiting for Steam… Your items are safe.',
  itemsSafe: 'Your items are safe.',
  timeAnnounce: (seconds: number) =>
    seconds >= 60
      ? `${countEn(Math.round(seconds / 60), 'minute', 'minutes')} left to accept`
      : `${countEn(seconds, 'second', 'seconds')} left to accept`,
  botLevel: (level: number) => `Steam level ${level}`,
  memberSince: (day: string) => `Member since ${day}`,
  botProfile: 'View Steam profile',
  stepOpen: 'Open the offer on Steam',
  stepCheck: 'Check it, then press Accept',
  stepPhone: 'Confirm on your phone',
  nothingInReturn: (amount: string) =>
    `Steam will warn you that you get nothing in return, and ask if this is a gift. Answer yes: Steam doesn’t know that the store pays you ${amount}.`,
  phoneHint:
    'If you have Steam Guard, the Steam app asks once more. Compare its items with the ones you picked, then confirm. Only then are they sent.',
  itemsToGive: 'The offer takes only these items',
  secretCode: 'Secret code – look for it in the offer',
  copy: 'Copy',
  copied: 'Copied',
  acceptInBrowser: 'Accept in browser',
  acceptInClient: 'In Steam client',
  scamWarning:
    'The offer must show this code, but the code alone is not enough: a thief with an API key (a password for programs) to your account can read it. Check that the bot’s level and “member since” match its profile above. We never ask you to send items twice.',
  /** For a bot about which the till does not know when it joined Steam. */
  scamWarningLevel:
    'The offer must show this code, but the code alone is not enough: a thief with an API key (a password for programs) to your account can read it. Check that the bot’s level matches its profile above. We never ask you to send items twice.',
  confirmNext: 'Accept on Steam, then come back: this page updates automatically.',
  stepBack: 'Close – the offer stays open',
  stepBackEarly: 'Close for now',

  outcomes: {
    succeeded: {
      title: 'Items received',
      description: 'We have your items. The funds will be added to your balance in the store shortly.',
    },
    tradeTimeout: {
      title: 'Time’s up',
      description:
        'We did not receive the items in time, so the offer was cancelled. The items are still yours. Go back to the store and try again, or contact support.',
    },
    tradeDeclined: {
      title: 'The trade was cancelled on Steam',
      description: 'The offer was declined, so no item has left your inventory.',
    },
    tradeCountered: {
      title: 'A counteroffer was sent',
      description:
        'Our bot only accepts its original offer, so the counteroffer was declined. Your items are still yours.',
    },
    tradeHasInvalidItems: {
      title: 'The trade is cancelled',
      description:
        'Some of the items can no longer be traded. We have received none of them. Go back to the store and try again, or contact support.',
    },
  } satisfies Partial<Record<FinalDepositStatus, ErrorText>>,
  receivedForLater: (date: string) =>
    `We have your items. The funds will be added to your balance in the store shortly after ${date}.`,
  receivedInParts: (amountNow: string, date: string) =>
    `We have your items. ${amountNow} will be added to your balance in the store shortly, and the rest after ${date}.`,
  takenBack: {
    title: 'Items taken back',
    description:
      'The items went back to the account that sent them on Steam, so this deposit adds no funds to your balance in the store.',
  },
  someTakenBack: 'Some items went back to the account that sent them on Steam, and no longer count.',
  /** The store has accepted the webhook, but only the store knows when it adds the funds. */
  knownToStore:
    'We have your items and have told the store. If the funds aren’t in your balance there yet, they’ll be added shortly.',
  knownToStoreInParts: (amountNow: string, date: string) =>
    `We have your items and have told the store. If ${amountNow} isn’t in your balance there yet, it’ll be added shortly. The rest comes after ${date}.`,
  declinedByYou: 'If this was you and you want to pay after all, start again from the store.',
  nextOfferAt: (time: string) => `You can get another offer after ${time}.`,
  heldBySteamTitle: 'Steam put the trade on hold',
  heldBySteam: (date: string) =>
    `Steam holds your items until ${date}, so this deposit is closed. Cancel the trade in Steam if you don’t want it; if it completes, the store is credited.`,
  steamHoldOver: 'The hold is over, and none of the items have reached us, so this deposit is closed.',
  holdReason:
    'Steam holds trades from accounts that have no mobile authenticator, or have had it for less than 7 days.',
  cancelledByStore: {
    title: 'The store cancelled this payment',
    description:
      'We did not receive the items, and they are still yours. Go back to the store and try again, or contact support.',
  },
  cancelledElsewhere: {
    title: 'The offer was cancelled on Steam',
    description:
      'It wasn’t you, and it wasn’t our system. We did not receive the items, and they are still yours. Don’t accept another offer that looks like ours: go back to the store and start again, or contact support.',
  },
  cancelledOnPhone: {
    title: 'The trade was cancelled on the phone',
    description:
      'The offer was cancelled in the Steam app that confirms trades, so no item has left your inventory.',
  },
  failedOnSteam: {
    title: 'The trade is cancelled',
    description:
      'Steam did not complete the trade. We have received none of the items. Go back to the store and try again, or contact support.',
  },
  outcomeUnknown: {
    title: 'We don’t know how the trade ended',
    description:
      'Steam didn’t say what became of the offer, so this deposit is closed. If your items have left your inventory, contact support: the store is credited once Steam confirms that we have them. If you still have them, decline the offer in Steam and start again from the store.',
  },
  closedNote: 'This deposit is closed. Start again from the store.',
  receipt: 'Receipt for support',
  scamSteps: [
    'If you did not cancel the trade yourself, somebody else may control your account: don’t accept any offer that looks like ours.',
    'Revoke your Steam Web API key if you didn’t create it, and sign out of all other devices.',
    'Change your Steam password, then start again from the store.',
  ],
  counteredStep:
    'If you did not send the counteroffer yourself, somebody else may control your account: don’t accept any offer that looks like ours.',
  apiKeyIs:
    'An API key is a password that lets a program read and cancel your trade offers. Only developers need one, so you probably never made one. If the Steam page below shows a key, a thief probably made it:',
  scamApiKey: 'Check your Steam API key',
  stolenKeyTitle: 'If this wasn’t you, secure your account first',
  checkAccountTitle: 'Check your account too, to be safe',
  stolenKeyText:
    'The offer was cancelled seconds after we sent it. Thieves with a stolen Steam Web API key do this, then send an offer that looks like ours.',
  stolenKeySteps: [
    'Decline every offer that looks like ours. Our bots send another one only after you start again in the store.',
    'Open your Steam Web API key below, and revoke it if you didn’t create it.',
    'In Steam, open Account details → Manage Steam Guard and deauthorise all other devices.',
    'Change your Steam password.',
  ],
  startAgain: 'Start again in the store',
  scamTitle: 'Wasn’t this you?',
  youReceive: 'You receive',
  /** While the offer is open: accepting it earlier ends the hold earlier. */
  atTheLatest: (date: string) => `${date} at the latest`,
  moreNow: (amount: string) => `That’s ${amount} more now than expected: the store’s limit has room for it.`,
  lessNow: (amount: string) =>
    `That’s ${amount} less now than expected: the store’s limit has less room than a moment ago.`,
  heldUntil: (amount: string, date: string) =>
    `Steam allows this trade to be reversed for some days, so we hold ${amount} until ${date}.`,
  heldByLimit: (amount: string, date: string) =>
    `Steam allows this trade to be reversed for some days. Meanwhile the store gets money only up to its limit, so we hold ${amount} until ${date}.`,
  heldByLimitAtMost: (amount: string, date: string) =>
    `Steam allows this trade to be reversed for some days. Meanwhile the store gets money only up to its limit, so we hold at most ${amount} until ${date}. If the limit has more room when your items arrive, you’ll get more right away.`,
  nothingHeld: 'Nothing is held: the store gets all of it once your items arrive.',
  redirectSoon: 'You’ll be back in the store in a few seconds.',
  stopSound: 'Stop the sound',

  creationErrorTitle: 'Failed to create trade',
  creationErrorText:
    'Check the trade URL or try again later; your Steam account may have restrictions. Nothing has left your inventory.',
  offersPaused: (time: string) =>
    `The last offer to this Steam account was declined or not accepted in time, so the next one has to wait. Nothing was sent. Try again at ${time}.`,
  creationErrors: {
    too_many_open_offers:
      'This Steam account already has 2 open offers from us. Nothing was sent. Accept or decline one of them in Steam, then try again.',
    too_many_items: 'You have chosen too many items to trade',
    game_not_accepted: 'The store doesn’t accept items of this game. Nothing was sent. Choose another game.',
    price_changed: 'Prices have changed. Nothing was sent. Your picks are kept: check the new total.',
    items_unavailable:
      'Some of the items can no longer be used. Nothing was sent. Your other picks are kept: check the new total.',
    no_bot_available:
      'All our bots are busy right now. Nothing was sent. Try again in a minute; if that doesn’t help, go back to the store and pay later.',
    trade_hold:
      'Steam would hold this trade for days, because your account has no mobile authenticator, or has had it for less than 7 days. Nothing was sent. Add Steam Guard in the Steam app, and pay with items after 7 days.',
    steam_unavailable: 'Steam isn’t responding right now. Your items are safe; try again in a few minutes.',
    technical_works:
      'New trades are paused for technical works. Nothing was sent. You can pay as soon as they are over.',
    shopper_refused:
      'This Steam account can’t be used to pay here. Nothing was sent. Use another account, or go back to the store.',
    deposit_closed: 'This deposit is already closed. Go back to the store and start a new one.',
  } as Partial<Record<string, string>>,
  creationCauses: {
    link_expired:
      'Steam says that your trade link is no longer valid. Nothing was sent. Copy the current link from Steam, close this message and paste the link into its field.',
    account_restricted:
      'Steam says that this account can’t trade right now: it may be limited, or its inventory private. Nothing was sent. See what Steam restricts, or check your privacy settings.',
    trade_ban:
      'Steam has banned this account from trading. Nothing was sent. Use another account, or pay another way in the store.',
  } as Partial<Record<string, string>>,
}

export type ModalTexts = typeof en

const ru: ModalTexts = {
  confirmTitle: 'Примите предложение обмена',
  confirmSummary: (n, amount) => `${countRu(n, 'предмет', 'предмета', 'предметов')} · ${amount}`,
  creatingTitle: 'Отправляем вам предложение…',
  creatingText: 'Бот отправляет предложение в Steam. Это займёт несколько секунд; предметы остаются вашими.',
  creatingAgain: 'Нужно ещё немного времени, спрашиваем снова. Ни один предмет не покинул ваш инвентарь.',
  creatingSlow:
    'Это занимает больше времени, чем обычно; мы продолжаем попытки. Ни один предмет не покинул ваш инвентарь. Окно можно закрыть: если предложение появится, страница его покажет.',
  timeLeftText: 'осталось. Ни один предмет не уйдёт, пока вы не подтвердите обмен.',
  amountFixed: 'Сумма не изменится, пока предложение открыто, даже если изменятся цены.',
  timeUnknownText: 'Ждём ответа от Steam. Ваши предметы в безопасности.',
  itemsSafe: 'Ваши предметы в безопасности.',
  timeAnnounce: (seconds) =>
    seconds >= 60
      ? remainingRu(Math.round(seconds / 60), 'минута', 'минуты', 'минут')
      : remainingRu(seconds, 'секунда', 'секунды', 'секунд'),
  botLevel: (level) => `Уровень Steam ${level}`,
  memberSince: (day) => `В Steam с ${day}`,
  botProfile: 'Профиль в Steam',
  stepOpen: 'Откройте предложение в Steam',
  stepCheck: 'Проверьте его и нажмите «Принять»',
  stepPhone: 'Подтвердите на телефоне',
  nothingInReturn: (amount) =>
    `Steam предупредит, что вы ничего не получаете взамен, и спросит, подарок ли это. Ответьте «да»: Steam не знает, что ${amount} вам зачислит магазин.`,
  phoneHint:
    'Если у вас есть Steam Guard, приложение Steam спросит ещё раз. Сверьте предметы в нём с теми, что вы выбрали, и подтвердите. Только после этого они уйдут.',
  itemsToGive: 'Предложение забирает только эти предметы',
  secretCode: 'Секретный код в предложении',
  copy: 'Копировать',
  copied: 'Скопировано',
  acceptInBrowser: 'Принять в браузере',
  acceptInClient: 'В клиенте Steam',
  scamWarning:
    'Этот код в предложении обязателен, но его недостаточно: код увидит и вор, у которого есть ключ API (пароль для программ) от вашего аккаунта. Сверьте уровень бота и дату его регистрации с профилем выше. Мы никогда не просим отправить предметы дважды.',
  scamWarningLevel:
    'Этот код в предложении обязателен, но его недостаточно: код увидит и вор, у которого есть ключ API (пароль для программ) от вашего аккаунта. Сверьте уровень бота с профилем выше. Мы никогда не просим отправить предметы дважды.',
  confirmNext: 'Примите предложение в Steam и вернитесь: эта страница обновится сама.',
  stepBack: 'Закрыть — предложение останется',
  stepBackEarly: 'Пока закрыть',

  outcomes: {
    succeeded: {
      title: 'Предметы получены',
      description: 'Предметы у нас. Средства скоро поступят на ваш баланс в магазине.',
    },
    tradeTimeout: {
      title: 'Время вышло',
      description:
        'Мы не получили предметы вовремя, поэтому предложение отменено. Предметы остались у вас. Вернитесь в магазин и попробуйте снова или обратитесь в поддержку.',
    },
    tradeDeclined: {
      title: 'Обмен отменён в Steam',
      description: 'Предложение отклонено, ни один предмет не покинул ваш инвентарь.',
    },
    tradeCountered: {
      title: 'Отправлено встречное предложение',
      description:
        'Бот принимает только своё исходное предложение, поэтому встречное отклонено. Предметы остались у вас.',
    },
    tradeHasInvalidItems: {
      title: 'Обмен отменён',
      description:
        'Некоторые предметы больше нельзя передать; мы не получили ни одного. Вернитесь в магазин и попробуйте снова или обратитесь в поддержку.',
    },
  },
  receivedForLater: (date) =>
    `Предметы у нас. Средства поступят на ваш баланс в магазине вскоре после ${date}.`,
  receivedInParts: (amountNow, date) =>
    `Предметы у нас. На ваш баланс в магазине скоро поступит ${amountNow}, остаток — после ${date}.`,
  takenBack: {
    title: 'Предметы возвращены',
    description:
      'Предметы вернулись в Steam на аккаунт, с которого пришли, поэтому средства за них не поступят на ваш баланс в магазине.',
  },
  someTakenBack:
    'Часть предметов вернулась в Steam на аккаунт, с которого они пришли, и больше не учитывается.',
  knownToStore:
    'Предметы у нас, и мы сообщили об этом магазину. Если средств ещё нет на вашем балансе, они скоро поступят.',
  knownToStoreInParts: (amountNow, date) =>
    `Предметы у нас, и мы сообщили об этом магазину. Если ${amountNow} ещё нет на вашем балансе, они скоро поступят. Остаток — после ${date}.`,
  declinedByYou: 'Если это были вы и всё же хотите заплатить, начните заново в магазине.',
  nextOfferAt: (time) => `Следующее предложение можно получить не раньше ${time}.`,
  heldBySteamTitle: 'Steam задержал обмен',
  heldBySteam: (date) =>
    `Steam удерживает предметы до ${date}, поэтому это пополнение закрыто. Отмените обмен в Steam, если передумали; если обмен завершится, магазин получит оплату.`,
  steamHoldOver:
    'Задержка закончилась, но ни один предмет к нам не поступил, поэтому это пополнение закрыто.',
  holdReason:
    'Steam задерживает обмены аккаунтов, у которых мобильного аутентификатора нет или он моложе 7 дней.',
  cancelledByStore: {
    title: 'Магазин отменил эту оплату',
    description:
      'Мы не получили предметы, они остались у вас. Вернитесь в магазин и попробуйте снова или обратитесь в поддержку.',
  },
  cancelledElsewhere: {
    title: 'Предложение отменено в Steam',
    description:
      'Это сделали не вы и не наша система. Мы не получили предметы, они остались у вас. Не принимайте других предложений, похожих на наше: вернитесь в магазин и начните заново или обратитесь в поддержку.',
  },
  cancelledOnPhone: {
    title: 'Обмен отменён на телефоне',
    description:
      'Предложение отменили в приложении Steam, которым подтверждают обмены; ни один предмет не покинул ваш инвентарь.',
  },
  failedOnSteam: {
    title: 'Обмен отменён',
    description:
      'Steam не завершил обмен; мы не получили ни одного предмета. Вернитесь в магазин и попробуйте снова или обратитесь в поддержку.',
  },
  outcomeUnknown: {
    title: 'Неизвестно, чем закончился обмен',
    description:
      'Steam не сообщил, что стало с предложением, поэтому это пополнение закрыто. Если предметов уже нет в вашем инвентаре, обратитесь в поддержку: магазин получит оплату, когда Steam подтвердит, что они у нас. Если они на месте, отклоните предложение в Steam и начните заново в магазине.',
  },
  closedNote: 'Это пополнение закрыто. Начните заново в магазине.',
  receipt: 'Квитанция для поддержки',
  scamSteps: [
    'Если вы не отменяли обмен сами, аккаунтом может управлять кто-то ещё: не принимайте похожих предложений.',
    'Отзовите ключ Steam Web API, если не создавали его, и выйдите на всех других устройствах.',
    'Смените пароль Steam, затем начните заново в магазине.',
  ],
  counteredStep:
    'Если встречное предложение отправили не вы, аккаунтом может управлять кто-то ещё: не принимайте похожих предложений.',
  apiKeyIs:
    'Ключ API — это пароль, с которым программа может читать и отменять ваши предложения обмена. Он нужен только разработчикам, так что вы его, скорее всего, не создавали. Если на странице Steam по ссылке ниже есть ключ, его, вероятно, создал вор:',
  scamApiKey: 'Проверить ключ Steam API',
  stolenKeyTitle: 'Если это были не вы, сначала защитите аккаунт',
  checkAccountTitle: 'На всякий случай проверьте и свой аккаунт',
  stolenKeyText:
    'Предложение отменили через несколько секунд после отправки. Так поступают воры с украденным ключом Steam Web API, а потом присылают предложение, похожее на наше.',
  stolenKeySteps: [
    'Отклоняйте все предложения, похожие на наше. Наши боты присылают новое, только если вы начнёте заново в магазине.',
    'Откройте свой ключ Steam Web API по ссылке ниже и отзовите его, если создавали его не вы.',
    'В Steam откройте «Об аккаунте» → «Управление Steam Guard» и отмените авторизацию всех других устройств.',
    'Смените пароль Steam.',
  ],
  startAgain: 'Начать заново в магазине',
  scamTitle: 'Это были не вы?',
  youReceive: 'Вы получите',
  atTheLatest: (date) => `${date} (самое позднее)`,
  moreNow: (amount) => `Сейчас придёт на ${amount} больше, чем ожидалось: в лимите магазина хватает места.`,
  lessNow: (amount) =>
    `Сейчас придёт на ${amount} меньше, чем ожидалось: в лимите магазина стало меньше места.`,
  heldUntil: (amount, date) =>
    `Steam позволяет отменить этот обмен ещё несколько дней, поэтому мы удерживаем ${amount} до ${date}.`,
  heldByLimit: (amount, date) =>
    `Steam позволяет отменить этот обмен ещё несколько дней. В это время магазин получает деньги только в пределах своего лимита, поэтому мы удерживаем ${amount} до ${date}.`,
  heldByLimitAtMost: (amount, date) =>
    `Steam позволяет отменить этот обмен ещё несколько дней. В это время магазин получает деньги только в пределах своего лимита, поэтому мы удерживаем не более ${amount} до ${date}. Если к приходу предметов в лимите будет больше места, сразу придёт больше.`,
  nothingHeld: 'Ничего не удерживается: магазин получит всю сумму, когда придут предметы.',
  redirectSoon: 'Через несколько секунд вы вернётесь в магазин.',
  stopSound: 'Выключить звук',

  creationErrorTitle: 'Не удалось создать обмен',
  creationErrorText:
    'Проверьте ссылку на обмен или попробуйте позже; возможны ограничения аккаунта Steam. Ни один предмет не покинул ваш инвентарь.',
  offersPaused: (time: string) =>
    `Последнее предложение этому аккаунту Steam было отклонено или не принято вовремя, поэтому следующего придётся подождать. Ничего не отправлено. Попробуйте снова в ${time}.`,
  creationErrors: {
    too_many_open_offers:
      'У этого аккаунта Steam уже есть 2 наших открытых предложения обмена. Ничего не отправлено. Примите или отклоните одно из них в Steam и попробуйте снова.',
    too_many_items: 'Вы выбрали слишком много предметов для обмена',
    game_not_accepted: 'Магазин не принимает предметы этой игры. Ничего не отправлено. Выберите другую игру.',
    price_changed: 'Цены изменились. Ничего не отправлено. Ваш выбор сохранён: проверьте новую сумму.',
    items_unavailable:
      'Некоторые предметы больше нельзя использовать. Ничего не отправлено. Остальной выбор сохранён: проверьте новую сумму.',
    no_bot_available:
      'Сейчас все наши боты заняты. Ничего не отправлено. Попробуйте через минуту; если не поможет, вернитесь в магазин и оплатите позже.',
    trade_hold:
      'Steam задержал бы этот обмен на несколько дней: мобильный аутентификатор вашего аккаунта не подключён или моложе 7 дней. Ничего не отправлено. Подключите Steam Guard в приложении Steam и платите предметами через 7 дней.',
    steam_unavailable: 'Steam сейчас не отвечает. Предметы в безопасности; попробуйте через несколько минут.',
    technical_works:
      'Новые обмены приостановлены на время технических работ. Ничего не отправлено. Заплатить можно будет сразу после работ.',
    shopper_refused:
      'Этим аккаунтом Steam здесь нельзя заплатить. Ничего не отправлено. Используйте другой аккаунт или вернитесь в магазин.',
    deposit_closed: 'Это пополнение уже закрыто. Вернитесь в магазин и начните новое.',
  },
  creationCauses: {
    link_expired:
      'Steam сообщает, что ваша ссылка на обмен больше не действует. Ничего не отправлено. Скопируйте новую ссылку в Steam, закройте это сообщение и вставьте её в поле.',
    account_restricted:
      'Steam сообщает, что этот аккаунт сейчас не может обмениваться: он ограничен или его инвентарь скрыт. Ничего не отправлено. Посмотрите ограничения Steam или проверьте настройки приватности.',
    trade_ban:
      'Steam запретил этому аккаунту обмен. Ничего не отправлено. Используйте другой аккаунт или заплатите в магазине иначе.',
  },
}

export const modalTexts: Record<Language, ModalTexts> = { en, ru }
