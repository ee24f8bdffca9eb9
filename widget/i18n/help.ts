/** The texts of the help page, loaded with it. */
import type { Language } from '../../contract/languages.ts'
import { itemConditions } from './conditions.ts'

const en = {
  itemConditions: itemConditions.en,
  title: 'Help',
  escrow: {
    title: 'Trade restrictions',
    text: 'Steam delays transfers unless the mobile authenticator has protected your account for at least 7 days. We can’t take items that arrive with a delay: turn on the authenticator and come back after 7 days.',
  },
  games: { title: 'Supported games', text: 'Counter-Strike 2, Dota 2, Team Fortress 2 and Rust.' },
  prices: {
    title: 'Why prices are lower than on the Steam market',
    text: 'Items are sold externally, on trading sites that pay out real money and take a large commission. Money from the Steam market can only be spent on Steam. So you get less than the Steam price, but you can spend it in the store.',
  },
  minimum: {
    title: 'Minimum amounts',
    text: 'The minimum amount covers the commission. The smallest payment is:',
  },
  money: {
    title: 'My funds haven’t arrived',
    text: 'Contact the store’s support first. Give them your payment number: it’s the number after the # at the top of the payment page. Once the payment has ended, that page links to a receipt for support. It says what happened and until when money is held.',
    contactIntro: 'If that doesn’t help, contact us:',
  },
  messenger: 'Messenger',
  when: {
    title: 'How long does it take?',
    text: 'Sending the offer takes a few seconds, and then you have 5 minutes to accept it on Steam. Your funds arrive seconds after the items. Steam lets a sender take some trades back for days, so the store may get part or all of the amount only after that. The page of your payment says how much, and until when.',
  },
  safe: {
    title: 'Is it safe?',
    text: 'Your trade link only lets our bot send you an offer: it can’t log in or take items. Nothing leaves your inventory until you confirm the trade in Steam. Accept only the offer that the page of your payment leads to, and check the bot’s level, the date it joined Steam and the code. We never ask you to send items twice, and never for a password or an API key.',
  },
}

const ru: typeof en = {
  itemConditions: itemConditions.ru,
  title: 'Помощь',
  escrow: {
    title: 'Ограничения обмена',
    text: 'Steam задерживает передачу, если аккаунт не был защищён мобильным аутентификатором 7 дней. Предметы с задержкой мы принять не можем: включите аутентификатор и возвращайтесь через 7 дней.',
  },
  games: { title: 'Поддерживаемые игры', text: 'Counter-Strike 2, Dota 2, Team Fortress 2 и Rust.' },
  prices: {
    title: 'Почему цены ниже, чем на торговой площадке Steam',
    text: 'Предметы продаются на внешних площадках, которые платят настоящими деньгами и берут большую комиссию. Цены на площадке Steam — это средства, которые нельзя вывести из Steam. Поэтому вы получаете меньше, чем просят в Steam, зато можете потратить эти деньги в магазине.',
  },
  minimum: {
    title: 'Минимальные суммы',
    text: 'Минимальная сумма покрывает комиссию. Наименьший платёж:',
  },
  money: {
    title: 'Деньги не пришли',
    text: 'Сначала обратитесь в поддержку магазина. Назовите номер платежа: он указан после знака # вверху страницы платежа. Когда платёж завершён, на этой странице есть ссылка на квитанцию для поддержки: в ней сказано, что произошло и до какого времени удержаны деньги.',
    contactIntro: 'Если это не помогло, напишите нам:',
  },
  messenger: 'Мессенджер',
  when: {
    title: 'Сколько времени это занимает?',
    text: 'Бот отправит предложение за несколько секунд, затем у вас будет 5 минут, чтобы принять его в Steam. Деньги приходят через несколько секунд после предметов. Некоторые обмены Steam позволяет отменить ещё несколько дней, поэтому часть суммы или всю её магазин может получить позже. Сколько и когда — написано на странице платежа.',
  },
  safe: {
    title: 'Это безопасно?',
    text: 'По ссылке на обмен наш бот может только отправить вам предложение: войти в аккаунт или забрать предметы нельзя. Ни один предмет не покинет инвентарь, пока вы не подтвердите обмен в Steam. Принимайте только то предложение, к которому ведёт страница платежа, и сверяйте уровень бота, дату его регистрации и код. Мы никогда не просим отправить предметы ещё раз и не спрашиваем пароль или ключ API.',
  },
}

export const helpTexts: Record<Language, typeof en> = { en, ru }
