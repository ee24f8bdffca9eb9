/** The texts of the help page, which come with it. */
import type { Language } from '../../contract/languages.ts'

const en = {
  title: 'Help',
  escrow: {
    title: 'Trade restrictions',
    text: 'Steam delays transfers of accounts that have not been protected by the mobile authenticator for 7 days. We cannot take items that arrive with a delay: turn the authenticator on and come back after 7 days.',
  },
  games: { title: 'Supported games', text: 'Counter-Strike 2, Dota 2, Team Fortress 2 and Rust.' },
  prices: {
    title: 'Why prices are lower than on the Steam market',
    text: 'Items are sold externally, on trading sites that pay out real money, and those take a large commission. Prices on the Steam market are in funds that never leave Steam.',
  },
  minimum: {
    title: 'Minimum sums',
    text: 'The minimum amount covers the commission. The smallest payment is:',
  },
  money: {
    title: 'The money has not arrived',
    text: 'First contact the support of the store: it sees your payment by its number. If that does not help, write to us through the messenger or to',
  },
  messenger: 'Messenger',
}

const ru: typeof en = {
  title: 'Помощь',
  escrow: {
    title: 'Ограничения обмена',
    text: 'Steam задерживает передачу, если аккаунт не был защищён мобильным аутентификатором 7 дней. Предметы с задержкой мы принять не можем: включите аутентификатор и возвращайтесь через 7 дней.',
  },
  games: { title: 'Поддерживаемые игры', text: 'Counter-Strike 2, Dota 2, Team Fortress 2 и Rust.' },
  prices: {
    title: 'Почему цены ниже, чем на торговой площадке Steam',
    text: 'Предметы продаются на внешних площадках, которые платят настоящими деньгами и берут большую комиссию. Цены на площадке Steam — это средства, которые нельзя вывести из Steam.',
  },
  minimum: {
    title: 'Минимальные суммы',
    text: 'Минимальная сумма покрывает комиссию. Наименьший платёж:',
  },
  money: {
    title: 'Деньги не пришли',
    text: 'Сначала обратитесь в поддержку магазина: там видят ваш платёж по номеру. Если это не помогло, напишите нам в мессенджер или на',
  },
  messenger: 'Мессенджер',
}

export const helpTexts: Record<Language, typeof en> = { en, ru }
