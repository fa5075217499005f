"""Questions that ask for secrets, and innocent ones with the same words in them."""

from __future__ import annotations

SECRET = """
What is your password?
What's your password
Please enter your password.
Enter the password for the router
Could you paste your Hevy API key here?
What is the API key for Hevy?
Paste your API key below.
Please provide your OpenAI API key so I can continue
Your API key?
Your password, please
API key:
Password
New password
I need your password to log in.
Can I have your password?
Give me the access token
Send me your personal access token
Tell me your PIN
What's your PIN?
What is your PIN code?
Enter your 6-digit code
Enter the code we sent you
What is the verification code?
Please type the one-time code from your phone
Which is the code from your authenticator app? Please enter the code from your authenticator app
What is your credit card number?
Enter your card number
Your card details?
What's the CVV?
Please enter your card number and CVV
What is your social login password?
Share your private key
Paste your SSH private key here
What is your client secret?
Please share your seed phrase to restore the wallet
What are your recovery codes?
What's your Wi-Fi password?
Which account is it, and what is your password for it?
Please confirm your password
Type your passphrase
Provide your login credentials
What password do you use?
What password should I use to sign in?
To connect your bank, enter your online banking password.
I have sent you an SMS. What is the security code?
Please send your bearer token
Your Hevy API key is missing. Paste it here.
Wie lautet dein Passwort?
Bitte gib dein Passwort ein.
Bitte geben Sie Ihre Kreditkartennummer ein
Nenne mir den API-Schlüssel
Wie lautet die TAN?
Wie ist Ihr Kennwort?
Quel est votre mot de passe ?
Veuillez saisir votre code de vérification
Donnez-moi votre clé API
Entrez votre numéro de carte bancaire
¿Cuál es tu contraseña?
Por favor, introduce tu clave API
Escribe tu número de tarjeta
Qual è la tua password?
Inserisci la tua chiave API
Qual é a sua senha?
Digite sua senha
Wat is je wachtwoord?
Voer je wachtwoord in
Jakie jest twoje hasło?
Podaj hasło
Введите пароль
Какой ваш пароль?
パスワードを入力してください
APIキーを教えてください
请输入您的密码
您的验证码是多少？
비밀번호를 입력하세요
""".strip().splitlines()

FIELDS = """
password
Password
api_key
Hevy API key
access_token
Card number
CVV
Security code
One-time code
PIN
Repeat password
Passwort
Mot de passe
Contraseña
private_key
recovery_phrase
Wi-Fi password
Client secret
Token
パスワード
""".strip().splitlines()

INNOCENT_FIELDS = """
name
email
Date of birth
key
Favourite key to sing in
Number of API keys
Password length
Password manager
Card colour
Postal code
Country code
Dress code
Zip code
Token limit
Max tokens
Library card
Security level
code
PIN board colour
Type of card
""".strip().splitlines()

INNOCENT = """
Which keyboard do you prefer?
Which password manager do you use?
Should I recommend a password manager?
What key do you sing in?
Which API should I use?
Do you want to reset your password?
How long should passwords be?
Should the site support API keys?
Where do you keep your house key?
How many cards are in your deck?
What is the password policy at your company?
Which API version do you need?
What is the API key used for in this example?
Should users be able to change their password?
Do you have a credit card?
Which credit card rewards matter to you?
How do you want to pay: card or cash?
Which card game should we play?
Should I rotate the API key now?
Should I revoke the old token?
What is your zip code?
What is your postal code?
What is the dress code for the party?
What's the country code of your phone number?
What error code did you see?
Which status code should the route return?
Should the code be formatted?
What is your favourite code editor?
What is the exit code of the script?
May I run the code now?
Which programming language should the code be in?
How should we store passwords: bcrypt or argon2?
Do you want two-factor authentication?
Should verification codes expire after five minutes?
How many digits should the PIN have?
Where should I drop the pin on the map?
Which pin is the data line connected to?
Should I pin this version?
What colour should the pin be?
Which secret ingredient do you like most?
What's the secret of your success?
Is it a secret?
Who is your secret Santa?
What is your key takeaway?
What are the key dates?
Which key results matter?
What is the primary key of the table?
Should the foreign key cascade?
Which key should open the menu?
Do you prefer a key card or a key?
What is your main goal?
How many tokens may the answer have?
What is the token limit you need?
Which design tokens do we need?
Should the token be a game piece?
Which seat do you want?
When do you want to train?
What can you train with?
How many days a week?
Who comes along?
Do you lift in kilograms or pounds?
How did you sleep?
What did you eat for breakfast?
Which exercises do you like?
Do you have an injury?
How tall are you?
What is your goal weight?
How experienced are you?
Should the plan include cardio?
When is your race?
Which muscle group first?
Do you want reminders?
What time do you get up?
How long may a session be?
Is there a gym near you?
What is your resting heart rate?
Should I save this plan?
Start the programme now?
Shall I delete the draft?
Which city are you in?
Where do you want to go?
When do you want to leave?
Window or aisle?
How many bags do you bring?
Do you need a visa?
Which airline do you prefer?
What is your budget?
Is breakfast important?
How many people are you?
Indoors or outdoors?
Any allergies?
Vegetarian or vegan?
Which restaurant do you like?
What is the occasion?
Which language should I write in?
How formal should the letter be?
Who is the letter to?
What is the deadline?
Should I attach the report?
Which file did you mean?
Delete the old files?
Which branch should I merge?
Should I squash the commits?
Do you want tests for this?
Which database do you use?
Postgres or SQLite?
Should the table be renamed?
Which framework do you prefer?
React or Vue?
Tabs or spaces?
Which operating system do you use?
What is your screen size?
Light or dark?
Which colour do you like?
What is the title of the document?
How many pages?
What is your name?
How should I call you?
What are your pronouns?
How old are you?
Where were you born?
What is your e-mail address?
What is your phone number?
May I call you?
What is your job?
Which team are you in?
Who is your manager?
What is the name of your pet?
Do you have children?
What is your hobby?
Which film did you like?
What is your favourite song?
Which book are you reading?
What did you mean by that?
Can you say more?
Is that right?
Yes or no?
Which of these?
Anything else?
What should I do next?
Should I go on?
Do you want to see the details?
Which account should I use?
Which repository?
Which project is it for?
Who should be invited?
Should it repeat every week?
At what time?
In which time zone?
How long should the meeting be?
Which room?
Online or in person?
Do you want a summary?
How detailed should it be?
Which sources do you trust?
What is the topic?
Who is the audience?
How many slides?
Which template?
Should I translate it?
Into which language?
What tone do you want?
Is this urgent?
How important is it?
Which option is cheaper for you?
Do you rent or own?
How large is the flat?
Which floor?
Is there a lift?
Do you have a car?
How far is the way to work?
Do you want to share your location?
Should the page show a login button?
Where should the password field go?
Should the form ask for a password?
Which identity provider do you use?
Do you want to sign in with Google or with GitHub?
Should sessions end after an hour?
Should the app remember the password?
How often should keys be rotated?
Where are the keys stored: in the vault or in a file?
Which encryption do you want?
Is a password needed to open the PDF?
Should the PDF be protected with a password?
Who knows the password?
Did you forget your password?
What happens when the password is wrong?
Why did the token expire?
Which scopes does the token need?
Is the API key still valid?
How many API keys do you have?
Should I create an API key in the console for you?
What do you want to call the API key?
Which card should I draw next?
Do you want a membership card?
What is your library card number?
Which graphics card do you have?
What is your business card design?
Should card numbers be masked in the list?
Which payment method do you prefer?
Wie viele Passwörter hast du?
Welchen Passwort-Manager nutzt du?
Welche Taste soll es sein?
Soll ich das Passwort zurücksetzen?
In welcher Tonart singst du?
Quel gestionnaire de mots de passe utilisez-vous ?
Quelle est votre couleur préférée ?
¿Cuál es tu color favorito?
¿Qué gestor de contraseñas usas?
Qual è il tuo colore preferito?
Wat is je lievelingskleur?
好きな色は何ですか？
パスワード管理アプリは使っていますか？
您最喜欢的颜色是什么？
""".strip().splitlines()
