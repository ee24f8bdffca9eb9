/**
 * The texts of the rest of a deposit's page: its notices, its messages, and the texts that several parts share. The
 * requirements fix some of them, such as “Failed get user information”: texts.test.ts lists these.
 */
import type { Language } from '../../contract/languages.ts'
import type { Mistake } from '../rest/mistakes.ts'
import type { SteamPage } from '../steam-pages.ts'

export type ErrorText = { title: string; description: string }

const en = {
  offline: 'You’re offline. We’ll continue as soon as you’re back online.',
  online: 'The connection is back.',
  retry: 'Try again',
  tabTitles: {
    created: 'Add funds',
    creating: 'Sending the offer',
    pending: 'Accept on Steam',
    succeeded: '✓ Received',
    ended: 'Not completed',
  },
  close: 'Close',
  closeQuestion: 'The trade offer stays open on Steam. Close the payment anyway?',
  paymentNotFound: 'Failed to find your payment',
  paymentNotFoundHint: 'The link may be incomplete or out of date. Go back to the store and start again.',
  paymentNotLoaded: 'We can’t reach the server',
  paymentNotLoadedHint: 'Nothing is lost. Check your connection: this page keeps trying.',
  paymentBusy: 'We can’t show your payment right now',
  paymentBusyHint: 'Our server is having trouble. Nothing is lost: this page tries again automatically.',
  goBack: 'Back to where you came from',
  partLoading: 'Loading the next step…',
  payFailed: 'The next step could not be loaded, so nothing was sent. Reload the page, then pay.',
  stepFailed:
    'This step could not be loaded. Your payment is still in progress and your items are safe. Reload the page.',
  failedToReceiveDeposit: 'failed to receive deposit',
  tradeLinkValid: 'Trade link is valid',
  tradeLinkMistakes: {
    profile:
      'That’s a link to your profile. Your trade link is in Steam’s trade settings and has “partner” and “token” in it.',
    offer: 'That’s a link to one trade offer. Your own trade link is in Steam’s trade settings.',
    incomplete: 'That’s not a complete trade link. Copy it again, up to the last letter after “token=”.',
    several: 'There’s more than one trade link here. Keep only your own.',
    inexact:
      'Paste only the link, exactly as Steam shows it: from https:// to the last letter after “token=”.',
    other:
      'That’s not a trade link. It looks like https://steamcommunity.com/tradeoffer/new/?partner=…&token=…',
  } satisfies Record<Mistake, string>,
  change: 'Change',
  tradeLinkChange: 'Change the trade link',
  tradeLinkStale: 'This link has expired or is incomplete. Paste the right one here.',
  userFailed: 'Failed get user information',
  linkOfOpenOffer:
    'Your offer to the other account is still open, so you can’t switch accounts yet. Go back to the offer, or decline it in Steam and start again from the store.',
  shopperRefused:
    'This Steam account can’t be used to pay here. Use another account, or go back to the store.',
  otherShopper:
    'This payment is for another Steam account. Use the trade link of the account you use in the store.',
  userFailedHint: 'Check the link or try again in a moment.',
  userUncheckedHint: 'We couldn’t check it right now. We’ve kept your link.',
  userUnavailableHint: 'Steam isn’t responding right now. We’ve kept your link.',
  userTooManyHint:
    'Too many links have been tried here. We’ve kept yours: wait a few minutes, then try again.',
  cookiesNeeded: 'Your browser blocks this page’s cookie. Allow cookies for this site, then reload the page.',
  steamPages: {
    privacy: 'Open privacy settings on Steam',
    guard: 'Set up Steam Guard',
    tradeSettings: 'Open trade settings on Steam',
    offers: 'Open your trade offers on Steam',
    restrictions: 'See what Steam restricts',
  } satisfies Record<SteamPage, string>,
  backToStore: 'Back to the store',
  why: 'why?',
  now: 'Now',
  nowExpected: 'Now, expected',
  nowAtLeast: 'Now, at least',
  onDay: (day: string) => `On ${day}`,
  onDayExpected: (day: string) => `On ${day}, expected`,
  onDayAtMost: (day: string) => `On ${day}, up to`,
  onDayOrEarlier: (day: string) => `On ${day} or earlier`,
  tooManyItems: 'You have chosen too many items to trade',
  offerWaiting: 'Your trade offer is waiting on Steam.',
  offerReturn: 'Back to the offer',
  otherOffer: (id: string) => `Your trade offer for payment #${id} is still open on Steam.`,
  otherOfferOpen: 'Go to that offer',
  offerBeingMade: 'Your trade offer is still being made. Nothing has left your inventory.',
  offerShow: 'Show it',
  offerTimeLeft: (time: string) => `${time}\u00a0left`,
  technicalWorks: 'Technical works: this may take longer than usual. Your items are safe.',
  technicalWorksOnPage:
    'Technical works: new trades are paused and your timer is stopped. Your items are safe. This notice disappears when we’re done.',
  technicalWorksUntil: (time: string) => `We expect to be done by ${time}.`,
  offerNumber: (id: string) => `Steam offer\u00a0${id}`,
  paymentNumber: (id: string) => `Payment #${id}`,
  toastTypes: { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' },
  toasts: 'Messages',
}

export type RestTexts = typeof en

const ru: RestTexts = {
  offline: 'Нет соединения. Страница продолжит сама, когда оно появится.',
  online: 'Соединение восстановлено.',
  retry: 'Попробовать снова',
  tabTitles: {
    created: 'Пополнение',
    creating: 'Отправляем предложение',
    pending: 'Примите в Steam',
    succeeded: '✓ Получено',
    ended: 'Не завершено',
  },
  close: 'Закрыть',
  closeQuestion: 'Предложение обмена останется открытым в Steam. Всё равно закрыть оплату?',
  paymentNotFound: 'Не удалось найти ваш платёж',
  paymentNotFoundHint: 'Возможно, ссылка неполная или устарела. Вернитесь в магазин и начните заново.',
  paymentNotLoaded: 'Сервер недоступен',
  paymentNotLoadedHint: 'Ничего не потеряно. Проверьте соединение: страница продолжает попытки.',
  paymentBusy: 'Сейчас не получается показать платёж',
  paymentBusyHint: 'На сервере неполадки. Ничего не потеряно: страница сама попробует ещё раз.',
  goBack: 'Вернуться туда, откуда вы пришли',
  partLoading: 'Загружаем следующий шаг…',
  payFailed: 'Следующий шаг не загрузился, поэтому ничего не отправлено. Обновите страницу и оплатите.',
  stepFailed: 'Этот шаг не загрузился. Платёж продолжается, предметы в безопасности. Обновите страницу.',
  failedToReceiveDeposit: 'не удалось загрузить пополнение',
  tradeLinkValid: 'Ссылка действительна',
  tradeLinkMistakes: {
    profile:
      'Это ссылка на профиль. Ссылка на обмен — в настройках обмена Steam, в ней есть «partner» и «token».',
    offer: 'Это ссылка на одно предложение. Ваша ссылка на обмен — в настройках обмена Steam.',
    incomplete: 'Ссылка неполная. Скопируйте её ещё раз, до последней буквы после «token=».',
    several: 'Здесь несколько ссылок на обмен. Оставьте только свою.',
    inexact:
      'Вставьте только ссылку, как её показывает Steam: от https:// до последней буквы после «token=».',
    other:
      'Это не ссылка на обмен. Она выглядит так: https://steamcommunity.com/tradeoffer/new/?partner=…&token=…',
  },
  change: 'Изменить',
  tradeLinkChange: 'Изменить ссылку на обмен',
  tradeLinkStale: 'Эта ссылка неполная или больше не действует. Вставьте сюда верную.',
  userFailed: 'Не удалось получить данные пользователя',
  linkOfOpenOffer:
    'Предложение другому аккаунту ещё открыто, поэтому сменить аккаунт пока нельзя. Вернитесь к предложению или отклоните его в Steam и начните заново в магазине.',
  shopperRefused:
    'Этим аккаунтом Steam здесь нельзя заплатить. Используйте другой аккаунт или вернитесь в магазин.',
  otherShopper:
    'Этот платёж для другого аккаунта Steam. Укажите ссылку аккаунта, под которым вы вошли в магазин.',
  userFailedHint: 'Проверьте ссылку или попробуйте ещё раз чуть позже.',
  userUncheckedHint: 'Сейчас её не удалось проверить. Ссылка сохранена.',
  userUnavailableHint: 'Steam сейчас не отвечает. Ссылка сохранена.',
  userTooManyHint:
    'Слишком много попыток с разными ссылками. Ваша сохранена: подождите несколько минут и попробуйте снова.',
  cookiesNeeded: 'Браузер блокирует cookie этой страницы. Разрешите их для этого сайта и обновите страницу.',
  steamPages: {
    privacy: 'Открыть настройки приватности в Steam',
    guard: 'Подключить Steam Guard',
    tradeSettings: 'Открыть настройки обмена в Steam',
    offers: 'Открыть предложения обмена в Steam',
    restrictions: 'Посмотреть ограничения Steam',
  },
  backToStore: 'Вернуться в магазин',
  why: 'почему?',
  now: 'Сейчас',
  nowExpected: 'Ожидается сейчас',
  nowAtLeast: 'Сейчас, не менее',
  onDay: (day) => `${day}`,
  onDayExpected: (day) => `Ожидается ${day}`,
  onDayAtMost: (day) => `${day}, не более`,
  onDayOrEarlier: (day) => `${day} или раньше`,
  tooManyItems: 'Вы выбрали слишком много предметов для обмена',
  offerWaiting: 'Предложение обмена ждёт вас в Steam.',
  offerReturn: 'Вернуться к предложению',
  otherOffer: (id) => `Предложение обмена по платежу #${id} ещё открыто в Steam.`,
  otherOfferOpen: 'Перейти к нему',
  offerBeingMade: 'Предложение обмена ещё создаётся. Ни один предмет не покинул ваш инвентарь.',
  offerShow: 'Показать',
  offerTimeLeft: (time) => `осталось\u00a0${time}`,
  technicalWorks:
    'Технические работы: обмен может занять больше времени, чем обычно. Предметы в безопасности.',
  technicalWorksOnPage:
    'Технические работы: новые обмены приостановлены, ваше время не идёт. Предметы в безопасности; эта строка исчезнет сама, когда всё закончится.',
  technicalWorksUntil: (time) => `Планируемое окончание: ${time}.`,
  offerNumber: (id) => `Предложение Steam\u00a0${id}`,
  paymentNumber: (id) => `Платёж №\u00a0${id}`,
  toastTypes: { info: 'Сообщение', success: 'Готово', warning: 'Внимание', error: 'Ошибка' },
  toasts: 'Сообщения',
}

export const restTexts: Record<Language, RestTexts> = { en, ru }
