"""Whether a text asks for a secret: a password, a key, a card's number, a code that is good for one use.

What is typed into questions and forms is kept in the log and read by the model, so no question there may ask for
that. It is told by the wording: a request ("what is your", "paste the"), and soon after it the name of a secret that
is not a part of another name ("password manager"). It is a net for mistakes and for models that were led astray; it
promises nothing against an author who means to get around it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from yourcall.texts import look

SECRETS: Final = "|".join((
    # passwords
    r"pass ?(?:word|code|phrase)s?|pwd|pin (?:code|number)|passw[oö]rt|kennwort|mot de passe|code secret|contraseña",
    r"senha|palavra passe|parola d ordine|parola chiave|wachtwoord|hasło|lösenord|şifre|пароль|كلمة (?:المرور|السر)",
    # keys and tokens
    r"(?:api|access|secret|private|ssh|gpg|encryption|signing|recovery|licen[cs]e|service account) (?:key"
    r"|token|secret)s?",
    r"(?:auth|authentication|bearer|refresh|session|personal access|oauth|bot) tokens?|client secret"
    r"|secret (?:word|key)",
    r"(?:api|access|secret|private|ssh) ?(?:schlüssel|sleutel)|geheimer schlüssel|zugriffstoken|login credentials?",
    r"clé (?:d )?(?:api|secrète|privée)|clave (?:de )?(?:api|secreta|privada)|chave (?:de |da )?(?:api|secreta)",
    r"chiave (?:api|segreta|privata)|ключ api|api ключ|(?:seed|recovery|mnemonic|backup) (?:phrase|words?|codes?)",
    r"credentials|zugangsdaten|identifiants|credenciales|anmeldedaten",
    r"id rsa|\.?env file|session cookies?|(?:webhook )?signing secret|online banking login",
    # cards
    r"(?:\d+|three|four|sixteen|last|cvv) digits (?:on|from) the (?:front|back) of (?:your|the) card|cc (?:number|no)",
    r"pin (?:of|for) (?:your|the) (?:\w+ )?(?:card|account|phone)",
    r"(?:credit |debit |bank |payment |visa |mastercard )?card (?:number|no|details|security code)|cvv2?|cvc2?|cv2",
    r"(?:kredit)?kartennummer|kartenprüfnummer|numéro de (?:la |ta |votre )?carte(?: bancaire"
    r"| de crédit)?|cryptogramme",
    r"número de (?:la |tu |su )?tarjeta(?: de crédito)?|número do cartão|numero (?:di|della) carta|kaartnummer",
    r"номер карты|numer karty|kart numara(?:sı|n)",
    # codes
    r"(?:one time|single use|verification|authentication|security|two factor|2fa|mfa|otp|sms"
    r"|authenticator|confirmation"
    r"|login|sign in|unlock|\d digit) (?:code|passcode|password|pin|number)|otp|totp|2fa code|tan",
    r"code (?:did )?you (?:just )?(?:get|got|receive|received)(?: by \w+)?|code reçu (?:par|sur) \w+",
    r"code (?:that )?(?:we|i|they|you) (?:just )?(?:sent|texted|emailed|got|received)(?: (?:to )?you)?",
    r"code (?:from|in|on) (?:your|the) (?:phone|sms|text message|text|email|e mail|authenticator(?: app)?|app)",
    r"einmal(?:code|passwort|kennwort)|sicherheitscode|bestätigungscode|code (?:de vérification"
    r"|à usage unique|de sécurité)",
    r"código (?:de verificación|de un solo uso|de seguridad|de verificação)|codice (?:di verifica|monouso"
    r"|di sicurezza)",
    r"verificatiecode|код (?:из смс|подтверждения)|kod (?:sms|weryfikacyjny)",
))  # fmt: skip

_ASKED: Final = "|".join((
    r"what (?:is|was|are)|what s|whats|which is|wie (?:lautet|ist|heißt)|was ist|quel(?:le)? est|c est quoi|cuál es",
    r"qual (?:è|é)|wat is|jakie jest|какой|ما هي|vad är",
))  # fmt: skip
_VERBS: Final = "|".join((
    r"enter|type|paste|provide|give|send|share|tell|input|supply|insert|post|reveal|submit|write|state"
    r"|specify|confirm",
    r"fill in|drop|forward|hand over|gib|geben sie|nenne|nennen sie|schick|schicken sie|sende|füge|füg|tippe|verrate",
    r"trage|entre[zr]?|saisi(?:s|ssez|r)|donne[zr]?|indique[zr]?|tape[zr]?|colle[zr]?|envoie|envoyez"
    r"|introdu(?:ce|zca|ci)",
    r"ingres[ae]|escrib[ae]|dame|pega|env[ií]a|digite|insira|informe|inserisci|scrivi|dammi|incolla|voer"
    r"|geef|vul|podaj",
    r"wpisz|введите|напишите|отправьте|укажите|gir|أدخل|ange|skriv",
))  # fmt: skip
_YOUR: Final = (
    r"your|ur|dein(?:e|en)?|ihr(?:e|en)?|euer|votre|ton|ta|tu|su|sua|tua|il tuo|la tua|seu|je|jouw|uw|twoje|ваш|din"
)
_THE: Final = (
    rf"{_YOUR}|the|a|an|my|our|das|den|die|ein|eine|einen|le|la|el|un|une|una|o|a|il|het|een|me|us|mir|uns|moi|mi"
)

_FILLER: Final = (
    r"(?:(?!(?:how|if|whether|when|where|why|who|which|about|manager|without|not|no|never|library|loyalty|membership"
    r"|member|student|gym|report|business|graphics|sim|manually|wie|ob|comment|cómo|si)\b)[\w]+ ){0,4}?"
)
_END: Final = (
    r"(?= ?$| ?[.,;:!?()\n]| (?:please|here|below|now|again|first|before|for|to|so|and|or|in|on|from|of|bitte"
    r"|hier|ein|für|an"
    r"|ici|pour|svp|s il|aquí|para|por|qui|per|in|hieronder|voor|that|which|you use|do you use|we|i|as|by|mit)\b)"
)
_START: Final = r"(?:^|[.!?;:\n] ?|\b(?:please|bitte|now|then|and|just|kindly|por favor|veuillez|proszę|пожалуйста) )"

_REQUEST: Final = "|".join((
    rf"\b(?:{_ASKED}) (?:{_THE}) {_FILLER}(?:{SECRETS}|pin|token){_END}",
    rf"{_START}(?:{_VERBS}) (?:(?:{_THE}) )*{_FILLER}(?:{SECRETS}){_END}",
    rf"(?<!not )(?<!never )(?<! t )\b(?:{_VERBS}|need|want|have|get|see|know|ask for) (?:me |us )?(?:{_YOUR}) "
    rf"{_FILLER}(?:{SECRETS}|pin|token){_END}",
    rf"(?<!not )(?<!never )(?<! t )\b(?:give|send|tell|show|text|email) (?:me|us) (?:{_THE}) "
    rf"{_FILLER}(?:{SECRETS}|pin|token){_END}",
    rf"^(?:{_YOUR}) {_FILLER}(?:{SECRETS}|pin|token) ?[?:.,]*(?: please)?[?:.]*$",
    rf"^(?:(?:new|old|current|account|e ?mail|wifi|wi fi|user ?name and"
    rf"|login and) )?(?:{SECRETS}) ?(?:please)?[?:.]*$",
    rf"\b(?:what|which|welchen|quel) (?:{SECRETS}|pin|token)"
    r" (?:(?:should|do|shall|can|would|did) (?:i|we|you)|protects?)\b",
    rf"\bwhat (?:should|do|shall) i (?:put|enter|type|use) (?:in|for|as) (?:the|your) (?:{SECRETS})\b",
    rf"\b(?:{SECRETS})\b[^.?!]{{0,60}},? (?:please|bitte)[.!?]*$",
    rf"\b(?:{_YOUR}|a|the) (?:{SECRETS}|code)\b[^?]{{0,60}}[.,;:!?] ?what (?:is|are) (?:it|they)\b",
    rf"\b(?:characters?|digits?|letters?|half|part) of (?:{_YOUR}) (?:{SECRETS}|pin)\b",
    rf"\b(?:{SECRETS})\b.{{0,60}}\b(?:tell|send|give) (?:me|us)\b",
    rf"\b(?:{_START})?(?:enter|type(?: in)?|read(?: me)?|list|copy|paste)[^.?!]{{0,30}}\b(?:{SECRETS}){_END}",
    rf"\b(?:{SECRETS})\b.{{0,200}}\b(?:{_VERBS}) (?:it|them|yours|ihn|es|le|lo)\b",
))  # fmt: skip
_LABEL: Final = (
    rf"^(?!(?:number|type|kind|name|length|age|reset|forgot|change|has|have|is|use|show|how|when|which|where|why)\b)"
    rf"(?:{_FILLER}(?:{SECRETS})|(?:(?:your|card|sim|bank|account) )?(?:pin|token)) ?(?:\(.*\))?[?:.*]*$"
)
_UNSPACED: Final = (
    r"(?:密码|密碼|口令|api ?密钥|密钥|信用卡号|卡号|验证码|驗證碼"
    r"|パスワード|暗証番号|apiキー|カード番号|認証コード|確認コード"
    r"|비밀번호|인증 ?번호|카드 ?번호|api ?키)(?:を|は|が|는|은|를|을|이|가|是|:)? ?"
    r"(?:入力|教え|何|貼|送|什么|多少|输入|提供|告诉|입력|알려|무엇|뭐|$|[?。])"
    r"|(?:请输入|請輸入|输入|请提供|告诉我|粘贴|发送)[^。?]{0,8}(?:密码|密碼|口令|密钥|卡号|验证码|驗證碼)"
)
_KEYS: Final = (
    r"\b(?:sk-(?:ant|proj|svcacct)-[\w-]{20,}|sk_live_\w{20,}|rk_live_\w{20,}|gh[pousr]_[A-Za-z0-9]{36}"
    r"|github_pat_\w{40,}"
    r"|glpat-[\w-]{20}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|xox[abprs]-\d+-[\w-]{10,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{34})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)

INSTEAD: Final = (
    "asks for a secret; what is entered here is kept in the log and read by the model. "
    "Use `Secret` for that, or other words if it is none"
)
"""Follows the name of the text."""


def asks_for_secret(text: str) -> bool:
    """Whether the text asks whoever reads it for a secret."""
    plain = _plain(text)
    return bool(_compiled(_REQUEST).search(plain) or _compiled(_UNSPACED).search(plain))


def names_secret(label: str) -> bool:
    """Whether a field of this name is one for a secret."""
    return asks_for_secret(label) or bool(_compiled(_LABEL).search(_plain(label)))


def resembles_key(text: str) -> bool:
    """Whether there is a key of a well-known form in it; of those only whose form nothing else has."""
    return _compiled(_KEYS).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """When it is first needed: that takes longer than importing the rest of the library's core."""
    return re.compile(pattern)


def _plain(text: str) -> str:
    """As it is read: one case, words apart by single spaces, of all marks only those that end something."""
    return " ".join(re.sub(r"[^\w\s.,;:!?()。]|_", " ", look(text)).split()).replace("？", "?")
