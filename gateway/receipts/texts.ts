import type { Language } from '../../contract/languages.ts'
import type { DepositStatus } from '../../contract/statuses.ts'

const en = {
  title: (id: string) => `Payment #${id}`,
  store: 'Store',
  result: 'What happened',
  opened: 'Opened',
  credited: 'Credited',
  held: 'Of it held',
  until: 'until',
  takenBack: 'Taken back by the sender',
  items: 'Items',
  back: 'taken back',
  offer: 'Steam offer',
  bot: 'Bot',
  reason: 'Reason',
  note: 'Show this page to support. It pays nothing and opens nothing.',
  kept: (until: string) => `It can be read until ${until}.`,
  asOf: (now: string) => `As of ${now}`,
  expired: 'This receipt is too old. Support still finds the payment by its number.',
  noReceipt: 'No receipt',
  unknown:
    'There is no payment at this address. Check that the link is whole, or give support the number of the payment.',
  later: 'The receipt cannot be shown at this moment. Try again in a minute.',
  other: 'По-русски',
  results: {
    created: 'Nothing was sent yet. The items are with their owner.',
    pending: 'A trade offer is open on Steam. The items are with their owner.',
    succeeded: 'The items were received and credited.',
    paymentTimeout: 'Closed without a trade. The items stayed with their owner.',
    tradeTimeout: 'The offer was not accepted in time. The items stayed with their owner.',
    tradeDeclined: 'The offer was declined on Steam. The items stayed with their owner.',
    tradeCountered: 'A counter-offer came and was refused. The items stayed with their owner.',
    tradeHasInvalidItems: 'The items could no longer be traded.',
  } satisfies Record<DepositStatus, string>,
}

type Texts = typeof en

const ru: Texts = {
  title: (id) => `Платёж № ${id}`,
  store: 'Магазин',
  result: 'Что произошло',
  opened: 'Открыт',
  credited: 'Зачислено',
  held: 'Из них удержано',
  until: 'до',
  takenBack: 'Забрано отправителем',
  items: 'Предметы',
  back: 'забран назад',
  offer: 'Предложение Steam',
  bot: 'Бот',
  reason: 'Причина',
  note: 'Покажите эту страницу поддержке. Она ничего не оплачивает и ничего не открывает.',
  kept: (until) => `Её можно читать до ${until}.`,
  asOf: (now) => `На ${now}`,
  expired: 'Эта квитанция устарела. Поддержка найдёт платёж по номеру.',
  noReceipt: 'Квитанции нет',
  unknown:
    'По этому адресу нет платежа. Проверьте, целиком ли скопирована ссылка, или назовите поддержке номер платежа.',
  later: 'Сейчас квитанцию показать нельзя. Попробуйте через минуту.',
  other: 'In English',
  results: {
    created: 'Пока ничего не отправлено. Предметы у владельца.',
    pending: 'Предложение обмена открыто в Steam. Предметы у владельца.',
    succeeded: 'Предметы получены и зачислены.',
    paymentTimeout: 'Закрыто без обмена. Предметы остались у владельца.',
    tradeTimeout: 'Предложение не приняли вовремя. Предметы остались у владельца.',
    tradeDeclined: 'Предложение отклонено в Steam. Предметы остались у владельца.',
    tradeCountered: 'Пришло встречное предложение, оно отклонено. Предметы остались у владельца.',
    tradeHasInvalidItems: 'Предметы больше нельзя было обменять.',
  },
}

export const RECEIPT_TEXTS: Record<Language, Texts> = { en, ru }
